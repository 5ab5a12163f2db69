"""Which public files belong to one battery, by the registry and the path alone."""

from __future__ import annotations

import pytest

from sealbench.formats.registry import NO_LINE, Registry, RegistryLine
from sealbench.publishing.bundle_record import BundleScope


def line(event: str, subject: str, **detail: object) -> RegistryLine:
    return RegistryLine(
        seq=0, prev=NO_LINE, at="2026-11-30T12:00:00Z", event=event, subject=subject, files=(), detail=detail
    )


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
SCOPE = BundleScope.of(Registry(LINES, ["0" * 64] * len(LINES)), "a", None, frozenset({"old"}))
PART = BundleScope.of(Registry(LINES, ["0" * 64] * len(LINES)), "part", "a", frozenset({"a"}))

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
