"""Single faults of plans, runs, logs, responses and reports, one by one: the step and its words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from forgery import Change, edit, reforge, relist

from sealbench.crypto.canonical import encode
from sealbench.crypto.signature import AuthorKey
from sealbench.formats.base import FileHash
from sealbench.formats.battery import Block, Commitment
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import RegistryLine
from sealbench.formats.report import Report
from sealbench.formats.run import LogLine, RawResponse, Run
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

Edit = Callable[[bytes], bytes]
LOG = "runs/pairs-plan-1/log.jsonl"


def found(verifier: Verifier, tree: PublicTree, step: int) -> str:
    """Everything this step says of failures, as one text."""
    return "\n".join(
        f"{one.subject} {one.detail}" for one in verifier.verify(tree).step(step) if one.status == "fail"
    )


EDITS: list[tuple[Change, int, str]] = [
    (
        edit(
            "commitments/pairs.json",
            Commitment,
            supersedes=FileHash(path="commitments/x.json", sha256="0" * 64),
        ),
        8,
        "names commitments/x.json, which is missing",
    ),
    (
        edit("preregistrations/pairs-plan.json", Preregistration, battery="spare"),
        8,
        "says battery spare, registry line",
    ),
    (
        edit(
            "preregistrations/pairs-plan.json",
            Preregistration,
            amends=FileHash(path="preregistrations/primes-plan.json", sha256="0" * 64),
        ),
        8,
        "is bound to another preregistrations/primes-plan.json",
    ),
    (edit("runs/pairs-plan-1/run.json", Run, battery="spare"), 8, "names commitments/pairs.json where"),
    (edit("runs/pairs-plan-1/run.json", Run, repeats=2, planned_calls=48), 10, "planned were 48 calls"),
    (edit("runs/pairs-plan-1/run.json", Run, caps=(300, 5000)), 10, "which the run does not hold"),
    (edit("runs/pairs-plan-1/run.json", Run, block=Block(height=3, hash="0" * 64)), 9, "another block 3"),
]


@pytest.mark.parametrize(("change", "step", "words"), EDITS)
def test_signed_files_that_do_not_fit(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, change: Change, step: int, words: str
) -> None:
    # The report is left as it was: evaluate() refuses some of these.
    assert words in found(lenient, reforge(tree, author, change, report_again=False), step)


def edit_lines(number: int, **fields: object) -> Change:
    def change(files: dict[str, bytes]) -> None:
        raw = files[LOG].split(b"\n")
        raw[number] = LogLine.from_bytes(raw[number]).model_copy(update=fields).to_bytes()
        files[LOG] = b"\n".join(raw)

    return change


LOG_EDITS: list[tuple[Change, str]] = [
    (edit_lines(2, repeat=2), "line 3: repeat 2 of 1"),
    (edit_lines(2, endpoint="reference/other"), "which the run does not hold"),
    (edit_lines(2, cap_parameter="max_tokens"), "carried by max_tokens"),
]


@pytest.mark.parametrize(("change", "words"), LOG_EDITS)
def test_lines_that_the_run_does_not_hold(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, change: Change, words: str
) -> None:
    assert words in found(lenient, reforge(tree, author, change, report_again=False), 10)


def test_a_call_asked_twice(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def change(files: dict[str, bytes]) -> None:
        lines = files[LOG].split(b"\n")
        lines[1] = lines[0]
        files[LOG] = b"\n".join(lines)

    forged = reforge(tree, author, change, report_again=False)
    assert "stands there already" in found(lenient, forged, 10)


def test_one_instance_under_two_ids(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def change(files: dict[str, bytes]) -> None:
        lines = [LogLine.from_bytes(raw) for raw in files[LOG].split(b"\n")[:-1]]
        first = lines[0]
        moved = [
            line.model_copy(update={"instance": first.instance}) if line.item != first.item else line
            for line in lines
        ]
        files[LOG] = b"".join(line.to_bytes() + b"\n" for line in moved)

    forged = reforge(tree, author, change, report_again=False)
    assert "under two item ids" in found(lenient, forged, 10)


def test_counted_lines(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def miscount(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [
            line.model_copy(update={"detail": {"lines": 5}}) if line.event == "run_end" else line
            for line in lines
        ]

    assert "counted 5" in found(lenient, reforge(tree, author, change_lines=miscount), 10)


RESPONSES = "batteries/primes/responses/primes-plan-1.jsonl"


def edit_response(**fields: object) -> Change:
    def change(files: dict[str, bytes]) -> None:
        raw = files[RESPONSES].split(b"\n")
        raw[0] = RawResponse.from_bytes(raw[0]).model_copy(update=fields).to_bytes()
        files[RESPONSES] = b"\n".join(raw)

    return change


def drop_response(files: dict[str, bytes]) -> None:
    files[RESPONSES] = files[RESPONSES].split(b"\n", 1)[1]


RESPONSE_EDITS: list[tuple[Change, str]] = [
    (edit_response(seq=5), "line 1: is response 5"),
    (edit_response(body=None), "salted hash of the body"),
    (edit_response(response_id="x"), "salted hash of the response id"),
    (drop_response, "23 responses for 24 log lines"),
]


@pytest.mark.parametrize(("change", "words"), RESPONSE_EDITS)
def test_raw_responses(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, change: Change, words: str
) -> None:
    assert words in found(lenient, reforge(tree, author, change), 10)


def test_a_response_without_a_body_must_be_an_error(
    lenient: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    log = "runs/primes-plan-1/log.jsonl"

    def change(files: dict[str, bytes]) -> None:
        edit_response(body=None, response_id=None)(files)
        raw = files[log].split(b"\n")
        bare = {"body_hash": None, "response_id_hash": None}
        raw[0] = LogLine.from_bytes(raw[0]).model_copy(update=bare).to_bytes()
        files[log] = b"\n".join(raw)

    assert "there is no body to show it" in found(lenient, reforge(tree, author, change), 10)


def test_items_that_are_not_in_the_battery(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    log = "runs/primes-plan-1/log.jsonl"

    def rename(files: dict[str, bytes]) -> None:
        lines = [LogLine.from_bytes(raw) for raw in files[log].split(b"\n")[:-1]]
        item = lines[0].item
        files[log] = b"".join(
            (line.model_copy(update={"item": "0" * 16}) if line.item == item else line).to_bytes() + b"\n"
            for line in lines
        )

    assert f"item {'0' * 16} is not in the battery" in found(lenient, reforge(tree, author, rename), 10)


REPORT = "runs/pairs-plan-1/report.json"


def test_report_anchors_and_baselines(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    report = Report.from_bytes(tree.get(REPORT) or b"")
    anchor = report.anchors[0]
    for update, words in (
        ({"height": 2}, "leads to block 2; it does not"),
        ({"network": "mainnet"}, "is of mainnet"),
        ({"sha256": "0" * 64}, "with another hash"),
    ):
        anchors = (anchor.model_copy(update=update), *report.anchors[1:])
        changed = report.model_copy(update={"anchors": anchors}).to_bytes()
        assert words in found(lenient, relist(tree.with_file(REPORT, changed)), 11)
    baseline = {"family": "subset_sum", "baseline": "always_yes", "accuracy": "0.9"}
    value = {**report.to_value(), "baselines": [baseline]}
    changed = relist(tree.with_file(REPORT, encode(value)))
    assert "baselines are not the commitment's" in found(lenient, changed, 11)


def test_reports_wait_for_a_sound_log(lenient: Verifier, tree: PublicTree) -> None:
    broken = relist(tree.with_file(LOG, (tree.get(LOG) or b"").split(b"\n", 1)[1]))
    result = lenient.verify(broken)
    assert any("the log is damaged" in one.detail for one in result.step(11))
    assert any("the log is damaged" in one.detail for one in result.step(12))
    for path, words in (
        ("preregistrations/pairs-plan.json", "is missing or unreadable"),
        ("runs/pairs-plan-1/run.json", "is missing or unreadable"),
        (LOG, "missing or unreadable"),
    ):
        told = lenient.verify(relist(tree.with_file(path, None)))
        assert any(one.status == "not_checked" and words in one.detail for one in told.step(11)), path


def test_plan_that_is_not_the_one_named(lenient: Verifier, tree: PublicTree) -> None:
    path = "preregistrations/pairs-plan.json"
    plan = Preregistration.from_bytes(tree.get(path) or b"").model_copy(update={"funding": "other"})
    told = lenient.verify(relist(tree.with_file(path, plan.to_bytes())))
    assert any("not the plan that run.json names" in one.detail for one in told.step(11))


def test_a_commitment_without_an_event(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def forget(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [line for line in lines if (line.event, line.subject) != ("create", "spare")]

    result = lenient.verify(reforge(tree, author, change_lines=forget))
    assert any("named by no registry line" in one.detail for one in result.step(8))
    assert any(one.status == "not_checked" and "spare" in one.subject for one in result.step(2))


def test_commitment_missing_for_a_run(lenient: Verifier, tree: PublicTree) -> None:
    told = lenient.verify(relist(tree.with_file("commitments/pairs.json", None)))
    assert any(one.status == "not_checked" and one.subject == LOG for one in told.step(10))
