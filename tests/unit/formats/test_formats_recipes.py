"""Foreign commitments and their recipes, against a second writing of the recipe and recorded hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.errors import FormatError
from sealbench.formats.recipes import FILE_BYTES, ITEMS, read_commitment, recompute

NLNL = Path(__file__).parents[2] / "data" / "ots" / "nlnl"
ITEM: dict[str, Any] = {
    "id": "a1",
    "family": "primality",
    "class_label": "prime",
    "prompt": "Is 7 prime? “ja”",
    "answer": True,
    "answer_type": "bool",
    "params": {"n": 7, "weight": 0.1},
    "calibration": {"accuracy": 0.5},
}


def by_hand(items: list[dict[str, Any]]) -> str:
    """The recipe written a second time: fields joined by hand, in their alphabetical order."""
    texts = []
    for item in sorted(items, key=lambda one: one["id"]):
        chosen = {
            name: str(item[name]) if name == "answer" else item[name]
            for name in ("answer", "answer_type", "class_label", "family", "id", "params", "prompt")
        }
        encoder = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        texts.append("{" + ",".join(f"{json.dumps(k)}:{encoder.encode(v)}" for k, v in chosen.items()) + "}")
    return hashlib.sha256(("[" + ",".join(texts) + "]").encode()).hexdigest()


def test_the_items_recipe() -> None:
    items = [ITEM | {"id": "b"}, ITEM]
    made = recompute(ITEMS, json.dumps({"items": items, "battery_hash": "0" * 64}).encode(), "x")
    assert (made.sha256, made.count) == (by_hand(items), 2)
    # Recorded from the recipe's published text, run once by hand.
    assert made.sha256 == "1bba699726e975a3cf7c9ce74181fa1247c93a3bd69733549a40294ed73e627d"
    assert recompute(ITEMS, json.dumps(items[::-1], indent=3).encode(), "x").sha256 == made.sha256
    uncalibrated = [{k: v for k, v in item.items() if k != "calibration"} for item in items]
    assert recompute(ITEMS, json.dumps(uncalibrated).encode(), "x") == made


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(10**30), 10**30) | st.booleans() | st.none(),
)
def test_any_text_and_answer(prompt: str, answer: object) -> None:
    items = [ITEM | {"prompt": prompt, "answer": answer}]
    assert recompute(ITEMS, json.dumps(items).encode(), "x").sha256 == by_hand(items)


def test_every_change_of_a_committed_field_changes_the_hash() -> None:
    before = recompute(ITEMS, json.dumps([ITEM]).encode(), "x").sha256
    for name in ("id", "family", "class_label", "prompt", "answer", "answer_type"):
        changed = [ITEM | {name: str(ITEM[name]) + " "}]
        assert recompute(ITEMS, json.dumps(changed).encode(), "x").sha256 != before, name


def test_file_bytes() -> None:
    assert recompute(FILE_BYTES, b"abc", "x").sha256 == hashlib.sha256(b"abc").hexdigest()
    assert recompute(FILE_BYTES, b"not json", "x").count is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"7",
        b'{"items": {}}',
        b'{"items": [1]}',
        b'[{"id": "a"}]',
        b'{"items": [], "items": []}',
        b"[NaN]",
        b"\xff",
        b"[" * 100_000,
        b'{"items": [' + b"9" * 5000 + b"]}",
        json.dumps([ITEM, ITEM | {"id": 3}]).encode(),
        json.dumps([ITEM | {"prompt": "\ud800"}]).encode(),
        json.dumps([ITEM]).replace("0.1", "1e999").encode(),
    ],
)
def test_files_that_hold_no_items(data: bytes) -> None:
    with pytest.raises(FormatError, match="x"):
        recompute(ITEMS, data, "x")


def test_unknown_recipes_are_refused() -> None:
    with pytest.raises(FormatError, match="not a recipe"):
        recompute("zip/v1", b"", "x")


def test_the_real_commitments() -> None:
    found = {
        path.name: read_commitment(path.read_bytes(), path.name) for path in NLNL.glob("*.commitment.json")
    }
    assert len(found) == 8
    battery = found["battery_v2.commitment.json"]
    assert (battery.name, battery.recipe, battery.count) == ("battery_v2", ITEMS, 63)
    assert battery.sha256.startswith("6c06eb73")
    probes = found.pop("or_gateway_probes_v1.commitment.json")
    assert (probes.recipe, probes.count, probes.source) == (FILE_BYTES, 36, "or_gateway_probes_v1.json")
    assert {one.recipe for one in found.values()} == {ITEMS}
    assert "63 items, nlnl-items/v1, sha256 6c06eb73" in battery.sentence


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "JSON object"),
        ({"battery_hash": "a" * 64, "file_hash": "a" * 64}, "both"),
        ({"battery_hash": "A" * 64}, "not a SHA-256"),
        ({"battery_hash": "a" * 63}, "not a SHA-256"),
        ({"battery_hash": 7}, "not a SHA-256"),
        ({"file_hash": "a" * 64, "hash_algorithm": "md5"}, "not sha256"),
    ],
)
def test_commitments_that_are_none(value: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_commitment(json.dumps(value).encode(), "c")


def test_a_layout_without_a_recipe_is_said_to_be_one() -> None:
    unknown = read_commitment(b'{"instrument": "i\\u001b[2J", "n_items": true}', "c")
    assert (unknown.recipe, unknown.count) == ("", None)
    assert unknown.sentence == "commits to i?[2J by no recipe that this program knows"


@given(st.binary(max_size=200))
def test_rubbish_raises_nothing_else(data: bytes) -> None:
    for read in (lambda: read_commitment(data, "x"), lambda: recompute(ITEMS, data, "x")):
        try:
            read()
        except FormatError:
            continue
