"""A verification in words: one line per step and subject, the verdict, what it does not prove."""

from __future__ import annotations

import click

from sealbench.verification.steps import STEP_NAMES, StepResult, Verification

_WORDS = {
    "ok": ("OK", "green"),
    "fail": ("FAIL", "red"),
    "pending": ("PENDING", "yellow"),
    "not_checked": ("NOT CHECKED", "yellow"),
    "not_due": ("NOT DUE", "bright_black"),
}

# Up to so many results that say the same thing are told one by one.
_ALIKE = 2

NOT_PROVED = (
    "that the calls came after the plan was sealed (a log can be written later than its calls)",
    "that the responses are what the providers sent (most sign nothing)",
    "that there was no other battery or run in a registry never published",
)


def verification_text(verification: Verification, *, every: bool = False) -> str:
    """The lines to print.

    Parameters
    ----------
    every : one line per subject also where all subjects of a step are OK.
    """
    lines = []
    for number in STEP_NAMES:
        lines += _step_lines(verification.step(number), every)
    lines.append("")
    color = {"ok": "green", "ok_except_time": "green", "fail": "red"}.get(verification.verdict, "yellow")
    lines.append("verdict: " + click.style(verification.sentence, fg=color, bold=True))
    lines.append("not proved by any of this:")
    lines += [f"  - {sentence}" for sentence in NOT_PROVED]
    return "\n".join(lines)


def _step_lines(results: tuple[StepResult, ...], every: bool) -> list[str]:
    """One line per result; where more than two of a step say the same, one for all of them."""
    lines: list[str] = []
    told: set[tuple[str, str]] = set()
    for result in results:
        same = [one for one in results if _sense(one) == _sense(result)]
        if every or len(same) <= _ALIKE:
            lines.append(_line(result))
        elif _sense(result) not in told:
            told.add(_sense(result))
            lines.append(_summary(same))
    return lines


def _sense(result: StepResult) -> tuple[str, str]:
    """What a result says apart from its subject: all that pass say one thing, the others their detail."""
    return (result.status, "" if result.status == "ok" else result.detail)


def _summary(same: list[StepResult]) -> str:
    first = same[0]
    grades = sorted({result.grade for result in same if result.grade})
    graded = f" ({', '.join(grades)})" if grades else ""
    return f"{_mark(first)} {len(same)} files{graded}, for example {first.subject}: {first.detail}"


def _mark(result: StepResult) -> str:
    word, color = _WORDS[result.status]
    return f"{result.step:>2}  {click.style(word.ljust(11), fg=color)}  {result.name}:"


def _line(result: StepResult) -> str:
    subject = f" {result.subject}:" if result.subject else ""
    grade = f" [{result.grade}]" if result.grade else ""
    return f"{_mark(result)}{subject} {result.detail}{grade}"
