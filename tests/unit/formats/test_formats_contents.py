"""What single formats say beyond their fields: commitments, envelopes, plans, registries, logs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from formats_samples import VECTORS, changed, read, samples, value_of

from sealbench.crypto import canonical
from sealbench.crypto.digest import join_parts, sha256_hex
from sealbench.errors import FormatError
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    Item,
    Parameters,
    SealedBattery,
    associated_data,
    item_bytes,
)
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import NO_LINE, Checkpoint, Registry
from sealbench.formats.run import LogLine, Run, follow_log, read_log


def test_beacon_mode_and_its_fields_go_together() -> None:
    value = value_of(Commitment)
    draft = {"path": "commitments/mixed.draft.json", "sha256": "0" * 64}
    block = {"height": 1, "hash": "0" * 64}
    whole = {**value, "mode": "beacon", "draft": draft, "beacon": block}
    assert Commitment.from_value(whole).mode == "beacon"
    for bent in (
        {**value, "mode": "beacon"},
        {**whole, "mode": "sealed"},
        {**value, "draft": draft},
        {**value, "beacon": block},
        {**whole, "draft": None},
        {**whole, "beacon": None},
    ):
        with pytest.raises(FormatError, match="beacon mode needs a draft and a beacon block"):
            Commitment.from_value(bent)


@pytest.mark.parametrize("text", ["A", "AA==\n", "AB==", "é", "-_==", "AAAA "])
def test_a_ciphertext_has_one_spelling(text: str) -> None:
    value = {**value_of(SealedBattery), "ciphertext": text}
    with pytest.raises(FormatError, match="base64"):
        SealedBattery.from_value(value)


def test_ciphertext_secret_and_associated_data_as_bytes() -> None:
    sealed = SealedBattery.from_value({**value_of(SealedBattery), "ciphertext": "AQI="})
    assert sealed.ciphertext_bytes() == b"\x01\x02"
    assert len(BatteryKey.from_bytes(samples()[BatteryKey]).secret_bytes()) == 32
    parameters = Parameters.from_value(value_of(Commitment)["parameters"])
    assert associated_data("mixed", parameters) == join_parts("mixed", parameters.to_bytes())


def _plan(path: tuple[Any, ...], new: Any) -> Preregistration:
    return Preregistration.from_value(changed(value_of(Preregistration), path, new), "plan")


@pytest.mark.parametrize(
    ("path", "new", "message"),
    [
        (("hypotheses", 1, "id"), "H1", "two hypotheses have the same id"),
        (("hypotheses", 0, "cap"), 299, "H1: cap 299 is not in caps"),
        (("hypotheses", 0, "class0"), "prime", "H1: compares a class with itself"),
        (("hypotheses", 0, "falsifies"), ["H9"], "H1: falsifies H9, which does not exist"),
        (("void_conditions", 0, "voids"), ["H9"], "V1: voids H9, which does not exist"),
        (("hypotheses", 0, "where"), {"answer": "x"}, "filters on answer; possible: family"),
        (("caps",), [300, 0], "a cap must be at least 1"),
        (("repeats",), 0, "repeats must be at least 1"),
    ],
)
def test_a_plan_must_hold_together(path: tuple[Any, ...], new: Any, message: str) -> None:
    value = value_of(Preregistration)
    for condition in value["void_conditions"]:
        condition["voids"] = []
    with pytest.raises(FormatError, match=message):
        Preregistration.from_value(changed(value, path, new), "plan")


def test_a_plan_may_falsify_and_void_its_own_hypotheses() -> None:
    value = value_of(Preregistration)
    value["void_conditions"] = [{**value["void_conditions"][0], "voids": ["H2"]}]
    value["hypotheses"][0]["falsifies"] = ["H2"]
    value["equivalence_margins"] = [{"hypothesis": "H1", "margin": "0.1"}]
    value["hypotheses"][1]["bound"] = {"at_least": "0.25"}
    assert Preregistration.from_value(value).hypotheses[0].falsifies == ("H2",)


def test_a_registry_tells_its_events() -> None:
    data = read("commitments/registry.jsonl")
    registry = Registry.from_bytes(data)
    raw = data.split(b"\n")[:-1]
    assert registry.size == len(raw)
    assert registry.first == sha256_hex(raw[0])
    assert registry.head == sha256_hex(raw[-1])
    assert registry.lines[0].prev == NO_LINE
    assert registry.network == "regtest"
    found = registry.find("create", "mixed")
    assert found is not None
    assert found.event == "create"
    assert registry.find("create", "other") is None
    assert [line.event for line in registry.events("expose")] == ["expose"]
    last = Checkpoint.from_bytes(read(f"commitments/checkpoints/{registry.size}.json"))
    assert (last.size, last.head, last.registry) == (registry.size, registry.head, registry.first)


def test_the_latest_of_several_events_is_found_and_mainnet_is_the_default() -> None:
    lines: list[bytes] = []
    for seq in range(3):
        value = {
            "seq": seq,
            "prev": sha256_hex(lines[-1]) if lines else NO_LINE,
            "at": "2026-12-01T00:00:00Z",
            "event": "key",
            "subject": "same",
            "files": [],
            "detail": {},
        }
        lines.append(canonical.encode(value))
    registry = Registry.from_bytes(b"".join(line + b"\n" for line in lines))
    found = registry.find("key", "same")
    assert found is not None
    assert found.seq == 2
    assert registry.network == "mainnet"


def test_an_empty_registry_is_an_error_with_a_hint() -> None:
    with pytest.raises(FormatError, match="empty") as caught:
        Registry.from_bytes(b"")
    assert caught.value.hint


def test_every_flipped_byte_of_a_registry_is_refused_or_moves_its_head() -> None:
    data = (VECTORS / "registry" / "good" / "registry.jsonl").read_bytes()
    good = Registry.from_bytes(data)
    for position in range(len(data)):
        bent = bytearray(data)
        bent[position] ^= 1
        try:
            found = Registry.from_bytes(bytes(bent))
        except FormatError as error:
            assert " line " in error.message
        else:
            # Only the last line can change unseen, and its hash is what the checkpoint holds.
            assert found.hashes[:-1] == good.hashes[:-1]
            assert found.head != good.head


LOG = (VECTORS / "log" / "good" / "log.jsonl").read_bytes()
FIRST = Run.from_bytes((VECTORS / "log" / "good" / "run.json").read_bytes()).digest()


def test_a_log_is_read_line_by_line() -> None:
    lines = list(read_log(LOG, FIRST))
    assert [line.seq for line in lines] == [0, 1, 2, 3]
    assert list(follow_log(LOG.splitlines(keepends=True), FIRST)) == lines
    assert lines[1].prev == sha256_hex(lines[0].to_bytes())
    # What comes before a bad line is given before the error.
    reading = read_log(LOG.replace(b'"seq":2', b'"seq":3'), FIRST)
    assert next(reading).seq == 0
    assert next(reading).seq == 1
    with pytest.raises(FormatError, match="line 3"):
        next(reading)


@pytest.mark.parametrize(
    ("end", "answer", "censored", "lost", "missing"),
    [
        ("cut_reported", "empty", True, True, False),
        ("cut_inferred", "right", True, False, False),
        ("cut_reported", "wrong", True, False, False),
        ("cut_inferred", "unclosed_reasoning", True, True, False),
        ("cut_other", "empty", False, False, False),
        ("finished", "unparseable", False, False, False),
        ("error", "empty", False, False, True),
    ],
)
def test_censored_lost_and_missing(end: str, answer: str, censored: bool, lost: bool, missing: bool) -> None:
    value = {**json.loads(LOG.split(b"\n")[0]), "end": end, "answer": answer}
    line = LogLine.from_value(value)
    assert (line.censored, line.lost, line.missing) == (censored, lost, missing)
    assert line.key == (line.item, line.endpoint, line.cap, line.repeat)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_items_are_cut_out_of_a_batterys_bytes(count: int) -> None:
    """Whatever stands in their texts: each item's own encoding, to the byte."""
    texts = ('},{"answer":"', "Ist 7 prim? […] \U0001f9ee \\")
    params = {"deeper": [{"answer": []}, {}], "text": "]"}
    first = value_of(Battery)["items"][0]
    items = tuple(Item.from_value({**first, "prompt": text, "params": params}) for text in texts[:count])
    battery = Battery(name="sample", items=items)
    assert item_bytes(battery.to_bytes()) == [item.to_bytes() for item in items]
