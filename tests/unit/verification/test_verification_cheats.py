"""Cheats by the author about the battery, the run and the report: the evidence is made consistent again.

As in test_verification_attacks.py, `lenient` waives missing proofs of time, so that the reason for a
failure is the cheat and not the missing stamp.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from expectations import assert_fails
from forgery import edit, edit_log, reforge, relist

from sealbench.crypto.signature import AuthorKey
from sealbench.formats.battery import Battery, BatteryKey, Commitment, SealedBattery
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import RegistryLine
from sealbench.formats.run import LogLine, RawResponse, Run
from sealbench.store import REGISTRY
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

PRIMES, PAIRS = "primes-plan-1", "pairs-plan-1"


def test_battery_swapped_after_the_results(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """Another K and other items, published in place of the committed ones."""

    def change(files: dict[str, bytes]) -> None:
        other = Battery.from_bytes(files["batteries/primes/battery.json"])
        items = (other.items[0].model_copy(update={"prompt": "Is 4 prime?"}), *other.items[1:])
        files["batteries/primes/battery.json"] = other.model_copy(update={"items": items}).to_bytes()

    result = lenient.verify(reforge(tree, author, change))
    assert_fails(result, 6, "batteries/primes/battery.json", "another battery")


def test_another_k(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    change = edit("batteries/primes/key.json", BatteryKey, secret="00" * 32)
    assert_fails(lenient.verify(reforge(tree, author, change)), 6, "key.json", "not the K committed to")


def test_hand_picked_items_are_not_what_k_draws(
    lenient: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    """Sealed and committed in good order, but not drawn from K: the author chose a problem."""
    result = lenient.verify(reforge(tree, author, _hand_picked))
    assert_fails(result, 6, "batteries/primes/battery.json", "K and the parameters give another battery")


def _hand_picked(files: dict[str, bytes]) -> None:
    from sealbench.crypto import merkle
    from sealbench.publishing.sealing import leaf_hashes, seal_battery

    key = BatteryKey.from_bytes(files["batteries/primes/key.json"])
    battery = Battery.from_bytes(files["batteries/primes/battery.json"])
    commitment = Commitment.from_bytes(files["commitments/primes.json"])
    items = (battery.items[0].model_copy(update={"prompt": "Is 4 prime?"}), *battery.items[1:])
    battery = battery.model_copy(update={"items": items})
    root = merkle.root(leaf_hashes(key.secret_bytes(), [item.to_bytes() for item in items])).hex()
    sealed = seal_battery(key.secret_bytes(), "primes", battery.to_bytes(), commitment.parameters)
    files["batteries/primes/battery.json"] = battery.to_bytes()
    files["batteries/primes.sealed.json"] = sealed.to_bytes()
    files["commitments/primes.json"] = commitment.model_copy(update={"root": root}).to_bytes()


def test_false_certificate(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def change(files: dict[str, bytes]) -> None:
        battery = Battery.from_bytes(files["batteries/primes/battery.json"])
        certificate = next(item.certificate for item in battery.items if item.class_label == "composite")
        items = tuple(
            item.model_copy(update={"certificate": certificate}) if item.class_label == "prime" else item
            for item in battery.items
        )
        files["batteries/primes/battery.json"] = battery.model_copy(update={"items": items}).to_bytes()

    assert_fails(lenient.verify(reforge(tree, author, change)), 7, "batteries/primes/battery.json", "item")


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"answer": "wrong", "end": "finished"}, "the body gives"),
        ({"charged_tokens": 7}, "charged_tokens is 7"),
        ({"end": "cut_reported"}, "the body gives"),
        ({"visible_characters": 1}, "visible_characters is 1"),
        ({"body_hash": "00" * 32}, "salted hash of the body"),
        ({"response_id_hash": None}, "salted hash of the response id"),
    ],
)
def test_edited_log_of_a_retired_battery(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, fields: dict[str, Any], word: str
) -> None:
    """The author edits a result, and makes everything after it again, the report included."""
    raw = (tree.get(f"runs/{PRIMES}/log.jsonl") or b"").split(b"\n")
    lines = [LogLine.from_bytes(line) for line in raw[:-1]]
    number = next(
        line.seq
        for line in lines
        if line.class_label == "prime" and (line.answer, line.end) == ("right", "finished")
    )
    result = lenient.verify(reforge(tree, author, edit_log(PRIMES, number, **fields)))
    assert_fails(result, 10, f"line {number + 1}", word)


def test_one_line_relabelled(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """Caught before retirement too: an item cannot have two classes."""
    raw = (tree.get(f"runs/{PAIRS}/log.jsonl") or b"").split(b"\n")[3]
    other = {"yes": "no", "no": "yes"}[LogLine.from_bytes(raw).class_label]
    result = lenient.verify(reforge(tree, author, edit_log(PAIRS, 3, class_label=other)))
    assert_fails(result, 10, f"runs/{PAIRS}/log.jsonl", "is described in another way than before")


def test_a_whole_class_relabelled(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """Every line of one item says the other class: consistent within the log, not with the battery."""

    def change(files: dict[str, bytes]) -> None:
        path = f"runs/{PRIMES}/log.jsonl"
        lines = [LogLine.from_bytes(raw) for raw in files[path].split(b"\n")[:-1]]
        item = lines[0].item
        other = {"prime": "composite", "composite": "prime"}[lines[0].class_label]
        files[path] = b"".join(
            (line.model_copy(update={"class_label": other}) if line.item == item else line).to_bytes() + b"\n"
            for line in lines
        )

    assert_fails(lenient.verify(reforge(tree, author, change)), 10, "class_label is", "the item's is")


def test_edited_log_of_a_sealed_battery_is_only_bound_by_its_stamp(
    lenient: Verifier, verifier: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    """What the protocol says stays unprovable: fabrication before stamping. The proofs stop it after."""
    edited = edit_log(PAIRS, 0, charged_tokens=7)
    assert lenient.verify(reforge(tree, author, edited)).verdict == "ok_except_time"
    assert_fails(verifier.verify(reforge(tree, author, edited, keep_proofs=True)), 3, "checkpoints")


def test_invented_response(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def change(files: dict[str, bytes]) -> None:
        path = f"batteries/primes/responses/{PRIMES}.jsonl"
        lines = files[path].split(b"\n")
        response = RawResponse.from_bytes(lines[0])
        lines[0] = response.model_copy(update={"text": "Answer: Yes"}).to_bytes()
        files[path] = b"\n".join(lines)

    assert_fails(lenient.verify(reforge(tree, author, change)), 10, "text or response id are not those")


@pytest.mark.parametrize("run", [PRIMES, PAIRS])
def test_calls_left_out(lenient: Verifier, tree: PublicTree, author: AuthorKey, run: str) -> None:
    """A log shortened by its last call, everything counted and signed again."""

    def change(files: dict[str, bytes]) -> None:
        path = f"runs/{run}/log.jsonl"
        files[path] = b"".join(line + b"\n" for line in files[path].split(b"\n")[:-2])

    def count(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [
            line.model_copy(update={"detail": {"lines": line.detail["lines"] - 1}})
            if (line.event, line.subject) == ("run_end", run)
            else line
            for line in lines
        ]

    result = lenient.verify(reforge(tree, author, change, change_lines=count))
    assert_fails(result, 10, f"runs/{run}/log.jsonl", "planned were 24 calls")
    assert any(one.detail != "0 deviations from the plan" for one in result.step(12))


def test_planned_calls_talked_down(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    change = edit(f"runs/{PAIRS}/run.json", Run, planned_calls=12)
    assert_fails(lenient.verify(reforge(tree, author, change)), 10, "run.json plans 12 calls")


def test_false_report(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    from sealbench.formats.report import Report

    def change(files: dict[str, bytes]) -> None:
        path = f"runs/{PAIRS}/report.json"
        report = Report.from_bytes(files[path])
        tests = (report.tests[0].model_copy(update={"reason": "because I say so"}), *report.tests[1:])
        files[path] = report.model_copy(update={"tests": tests}).to_bytes()

    result = lenient.verify(reforge(tree, author, change, report_again=False))
    assert_fails(result, 11, f"runs/{PAIRS}/report.json", "differs from what the log gives in: tests")


def test_plan_changed_after_the_run(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """The plan gets the caps that were run, under another name; the deviation shows in step 12."""
    change = edit("preregistrations/pairs-plan.json", Preregistration, repeats=2)
    result = lenient.verify(reforge(tree, author, change))
    assert any("repeats: 2 -> 1" in one.detail for one in result.step(12))


def test_hidden_deviations(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    change = edit("preregistrations/pairs-plan.json", Preregistration, repeats=2)

    def hide(files: dict[str, bytes]) -> None:
        change(files)

    # The report is not made again: it still says that there were no deviations.
    result = lenient.verify(reforge(tree, author, hide, report_again=False))
    assert_fails(result, 12, f"runs/{PAIRS}/report.json", "lists other deviations")


def test_run_begun_before_its_plan(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """run.json names a block from before plan and commitment were anchored; proofs of these are kept."""
    from sealbench.formats.battery import Block
    from sealbench.timestamps.networks import REGTEST, display

    genesis = Block(height=0, hash=display(REGTEST.genesis.hash))
    forged = reforge(tree, author, edit(f"runs/{PAIRS}/run.json", Run, block=genesis))
    # Nothing before the run's own file was changed, so its proofs of commitment and plan still hold.
    same = ["commitments/pairs.json", "preregistrations/pairs-plan.json"]
    assert all(forged.get(path) == tree.get(path) for path in same)
    proofs = {f"{path}.ots": tree.get(f"{path}.ots") for path in same}
    result = lenient.verify(relist(forged.with_files(proofs)))
    assert_fails(result, 9, f"runs/{PAIRS}/run.json", "no earlier than block 1, the run began at block 0")


def test_run_names_a_block_that_never_was(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    from sealbench.formats.battery import Block

    change = edit(f"runs/{PAIRS}/run.json", Run, block=Block(height=7, hash="00" * 32))
    assert_fails(lenient.verify(reforge(tree, author, change)), 9, "names another block 7")
    beyond = edit(f"runs/{PAIRS}/run.json", Run, block=Block(height=99_999, hash="00" * 32))
    result = lenient.verify(reforge(tree, author, beyond))
    assert all(one.status != "ok" for one in result.step(9) if PAIRS in one.subject)


def test_two_registered_runs_claim_one_log(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """A pilot passed off as the registered run of the plan."""

    def change(files: dict[str, bytes]) -> None:
        run = Run.from_bytes(files["runs/pairs-exploratory-1/run.json"])
        plan = Run.from_bytes(files[f"runs/{PAIRS}/run.json"]).plan
        files["runs/pairs-exploratory-1/run.json"] = run.model_copy(update={"plan": plan}).to_bytes()

    result = lenient.verify(reforge(tree, author, change))
    assert_fails(result, 8, "runs/pairs-exploratory-1/run.json", "neither a run of a plan nor an exploratory")


@pytest.mark.parametrize(
    ("drop", "word"),
    [
        (("run_start", PAIRS), "comes before any run_start of it"),
        (("create", "pairs"), "which was not created before it"),
        (("preregister", "pairs-plan"), "which was not preregistered before it"),
        (("run_end", PAIRS), "comes before any run_end"),
    ],
)
def test_events_left_out(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, drop: tuple[str, str], word: str
) -> None:
    def without(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [line for line in lines if (line.event, line.subject) != drop]

    assert_fails(lenient.verify(reforge(tree, author, change_lines=without)), 8, REGISTRY, word)


def test_run_after_retirement(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def retired_first(lines: list[RegistryLine]) -> list[RegistryLine]:
        retire = next(line for line in lines if line.event == "retire")
        rest = [line for line in lines if line is not retire]
        start = next(at for at, line in enumerate(rest) if line.event == "run_start")
        return [*rest[:start], retire, *rest[start:]]

    result = lenient.verify(reforge(tree, author, change_lines=retired_first))
    assert_fails(result, 8, REGISTRY, "which was retired before it")


def test_report_hidden(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """A run whose report was left out altogether is seen in the registry's own line."""

    def change(files: dict[str, bytes]) -> None:
        for name in ("report.json", "report.md"):
            del files[f"runs/{PAIRS}/{name}"]

    def without(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [line for line in lines if (line.event, line.subject) != ("report", PAIRS)]

    result = lenient.verify(reforge(tree, author, change, change_lines=without))
    assert PAIRS in result.step(8)[0].detail.partition("not reported: ")[2]


def test_ciphertext_exchanged(lenient: Verifier, tree: PublicTree) -> None:
    path = "batteries/pairs.sealed.json"
    sealed = SealedBattery.from_bytes(tree.get(path) or b"")
    other = sealed.model_copy(update={"ciphertext": base64.b64encode(b"other").decode()})
    assert_fails(
        lenient.verify(relist(tree.with_file(path, other.to_bytes()))), 5, path, "not the ciphertext"
    )
