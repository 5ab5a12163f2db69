"""What a test expects of a failed verification."""

from __future__ import annotations

from sealbench.verification.steps import Verification


def reasons(result: Verification) -> list[tuple[int, str]]:
    return [(one.step, f"{one.subject} {one.detail}") for one in result.failures]


def assert_fails(result: Verification, step: int, *words: str) -> None:
    """It fails, and this step says so with these words in one of its results."""
    assert result.verdict == "fail", result.sentence
    told = [text for number, text in reasons(result) if number == step]
    assert any(all(word in text for word in words) for text in told), reasons(result)
