"""Which public files belong to one battery, by the registry and the path alone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sealbench.formats.base import FileHash
from sealbench.formats.registry import NO_LINE, Registry, RegistryLine
from sealbench.publishing.bundle_record import BundleScope


def line(event: str, subject: str, *paths: str, **detail: object) -> RegistryLine:
    files = tuple(FileHash(path=path, sha256="0" * 64) for path in paths)
    at = "2026-11-30T12:00:00Z"
    return RegistryLine(seq=0, prev=NO_LINE, at=at, event=event, subject=subject, files=files, detail=detail)


def registry_of(lines: list[RegistryLine]) -> Registry:
    numbered = [one.model_copy(update={"seq": seq}) for seq, one in enumerate(lines)]
    return Registry(numbered, ["0" * 64] * len(numbered))


LINES = [
    line("key", "SHA256:x"),
    line("create", "a"),
    line("create", "old"),
    line("preregister", "plan-a", battery="a"),
    line("amend", "plan-a2", battery="a"),
    line("preregister", "plan-b", battery="b"),
    line("run_start", "plan-a-1", battery="a", plan="plan-a"),
    line("run_start", "plan-b-1", battery="b", plan="plan-b"),
    line("run_start", "old-1", battery="old"),
]
REGISTRY = registry_of(LINES)
SIZES = [
    "commitments/checkpoints/1.json",
    "commitments/checkpoints/9.json",
    "commitments/checkpoints/10.json",
]
SCOPE = BundleScope.of(REGISTRY, "a", None, frozenset({"old"})).with_checkpoints(REGISTRY, SIZES)
PART = BundleScope.of(REGISTRY, "part", "a", frozenset({"a"}))

HELD = [
    *("commitments/registry.jsonl", "commitments/headers.bin", "commitments/allowed_signers"),
    *(
        "commitments/checkpoints/9.json",
        "commitments/checkpoints/1.json.sig",
        "commitments/checkpoints/1.json.ots",
    ),
    *("commitments/a.json", "commitments/a.json.sig", "commitments/a.json.ots", "commitments/a.draft.json"),
    *("commitments/old.json", "commitments/old.json.ots", "runs/old-1/report.json"),
    *("commitments/reveals/a-1.json", "commitments/reveals/a-12.json.sig", "batteries/a.sealed.json"),
    *("preregistrations/plan-a.json", "preregistrations/plan-a2.json.ots", "runs/plan-a-1/log.jsonl"),
    *("runs/plan-a-1/run.json.sig", "runs/plan-a-1/report.html", "runs/plan-a-1/report.json"),
]
LEFT_OUT = [
    *("commitments/files.json", "commitments/b.json", "commitments/checkpoints/10.json"),
    *("commitments/checkpoints/10.json.ots", "batteries/b.sealed.json", "batteries/old.sealed.json"),
    *("batteries/a/key.json", "batteries/a/record/commitments/a.json", "commitments/reveals/a-b-1.json"),
    *("commitments/reveals/a-1-2.json", "preregistrations/plan-b.json", "runs/plan-b-1/report.json"),
    *("runs/old-1/log.jsonl", "runs/plan-a-1", "commitments/a.draft.json.json"),
]


@pytest.mark.parametrize("path", HELD)
def test_held(path: str) -> None:
    assert SCOPE.holds(path)


@pytest.mark.parametrize("path", LEFT_OUT)
def test_left_out(path: str) -> None:
    assert not SCOPE.holds(path)


def test_what_must_be_there_is_the_batterys_own() -> None:
    assert not SCOPE.owns("commitments/old.json")
    assert not SCOPE.owns("runs/old-1/report.json")
    assert SCOPE.owns("commitments/a.json")
    assert SCOPE.owns("runs/plan-a-1/report.md")


def test_a_derived_battery_has_its_parents_commitment_and_envelope() -> None:
    assert PART.owns("commitments/a.json")
    assert PART.owns("batteries/a.sealed.json")
    assert PART.owns("commitments/reveals/part-subset.json.sig")
    assert not PART.holds("batteries/part.sealed.json")
    assert not PART.holds("preregistrations/plan-a.json")
    assert not PART.holds("runs/plan-a-1/log.jsonl")
    assert not PART.holds("runs/plan-a-1/report.json")


HISTORY = registry_of(
    [
        line("key", "SHA256:x"),
        line("create", "b", "commitments/b.json"),
        line("create", "old", "commitments/old.json"),
        line("create", "a", "commitments/a.json", "batteries/a.sealed.json"),
        line("preregister", "plan-b", "preregistrations/plan-b.json", battery="b"),
        line("preregister", "plan-a", "preregistrations/plan-a.json", battery="a"),
        line("key", "SHA256:y"),
        line("run_start", "plan-a-1", "runs/plan-a-1/run.json", battery="a", plan="plan-a"),
        line("run_start", "plan-b-1", "runs/plan-b-1/run.json", battery="b", plan="plan-b"),
        line("run_end", "plan-a-1", "runs/plan-a-1/run.json", "runs/plan-a-1/log.jsonl"),
        line("report", "plan-b-1", "runs/plan-b-1/report.json"),
        line("report", "plan-b-1", "runs/plan-b-1/report.json"),
    ]
)


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        (range(1, 13), {1, 3, 4, 6, 7, 8, 10, 12}),  # the first over each own event and key, and the newest
        (range(1, 20), {1, 3, 4, 6, 7, 8, 10, 12}),  # later ones speak of what is not in the copy
        ([2, 5, 9, 11], {2, 5, 9, 11}),  # one checkpoint covers the lines of several commands
        ([5, 11, 12], {5, 11, 12}),
        ([12], {12}),
        ([3], {3}),  # none covers the rest: step 8 will say so
        ([13, 14], set()),
    ],
)
def test_the_checkpoints_that_a_history_rests_on(there: Iterable[int], chosen: set[int]) -> None:
    scope = BundleScope.of(HISTORY, "a", None, frozenset({"old"}))
    paths = [f"commitments/checkpoints/{size}.json{end}" for size in there for end in ("", ".sig", ".ots")]
    held = [path for path in paths if scope.with_checkpoints(HISTORY, paths).holds(path)]
    assert held == [path for path in paths if int(path.split("/")[-1].split(".")[0]) in chosen]
