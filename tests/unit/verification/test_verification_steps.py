"""Verdict, exit code, JSON and sentence of a Verification."""

from __future__ import annotations

import itertools

import pytest

from sealbench.verification.steps import (
    STEP_NAMES,
    TIME_STEPS,
    StepResult,
    Verification,
    fail,
    not_checked,
    not_due,
    ok,
    pending,
)

OK, FAIL, PENDING = ok(1, "a", "fine"), fail(2, "b", "wrong"), pending(4, "c", "waits", "pending")
UNCHECKED, NOT_DUE = not_checked(6, "d", "no family"), not_due(7, "", "nothing yet")


def test_verdicts_follow_the_order_fail_pending_unchecked_ok() -> None:
    rank = {FAIL: ("fail", 1), PENDING: ("pending", 3), UNCHECKED: ("unchecked", 4)}
    everything = (FAIL, PENDING, UNCHECKED, OK, NOT_DUE)
    for size in range(1, 6):
        for chosen in itertools.combinations(everything, size):
            expected = next((rank[one] for one in everything[:3] if one in chosen), ("ok", 0))
            found = Verification(chosen, "mainnet")
            assert (found.verdict, found.exit_code) == expected


@pytest.mark.parametrize("step", sorted(STEP_NAMES))
@pytest.mark.parametrize("status", ["pending", "not_checked"])
def test_only_time_can_be_waived(step: int, status: str) -> None:
    waits = StepResult(step, status, "x", "waits")  # type: ignore[arg-type]
    found = Verification((OK, waits), "mainnet", accept_unanchored=True)
    assert (found.verdict == "ok_except_time") == (step in TIME_STEPS)
    assert (found.exit_code == 0) == (step in TIME_STEPS)
    assert Verification((OK, waits), "mainnet").exit_code in (3, 4)


def test_waiving_time_waives_no_failure() -> None:
    wrong = fail(4, "x", "mismatch")
    assert Verification((OK, wrong), "mainnet", accept_unanchored=True).verdict == "fail"
    assert Verification((OK,), "mainnet", accept_unanchored=True).verdict == "ok"


def test_sentence_says_what_limits_the_verdict() -> None:
    assert Verification((OK,), "mainnet").sentence == "ok"
    regtest = Verification((OK,), "regtest", self_declared="SHA256:abc")
    assert regtest.sentence == (
        "ok (regtest: proves nothing about time); self-declared key SHA256:abc, owner not checked"
    )


def test_json_has_the_contracts_fields() -> None:
    found = Verification((OK, PENDING), "regtest", self_declared="SHA256:abc").to_json()
    assert found["schema"] == "sealbench/verify/v1"
    assert (found["verdict"], found["network"], found["exit_code"]) == ("pending", "regtest", 3)
    assert found["steps"][1] == {
        "step": 4,
        "name": STEP_NAMES[4],
        "status": "pending",
        "subject": "c",
        "detail": "waits",
        "grade": "pending",
    }


def test_there_are_twelve_steps() -> None:
    assert list(STEP_NAMES) == list(range(1, 13))
    assert len(set(STEP_NAMES.values())) == 12
