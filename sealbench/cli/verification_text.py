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
    passed = [result for result in results if result.status == "ok"]
    if every or len(passed) <= 2:
        return [_line(result) for result in results]
    # Many subjects that pass say one thing: how many, and the first as an example.
    first = passed[0]
    grades = sorted({result.grade for result in passed if result.grade})
    graded = f" ({', '.join(grades)})" if grades else ""
    summary = f"{_mark(first)} {len(passed)} files{graded}, for example {first.subject}: {first.detail}"
    others = [_line(result) for result in results if result.status != "ok"]
    return [summary, *others]


def _mark(result: StepResult) -> str:
    word, color = _WORDS[result.status]
    return f"{result.step:>2}  {click.style(word.ljust(11), fg=color)}  {result.name}:"


def _line(result: StepResult) -> str:
    subject = f" {result.subject}:" if result.subject else ""
    grade = f" [{result.grade}]" if result.grade else ""
    return f"{_mark(result)}{subject} {result.detail}{grade}"
