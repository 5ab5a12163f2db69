"""A verification in words: one line per step and subject, the verdict, what it does not prove."""

from __future__ import annotations

import textwrap

import click

from sealbench.verification.steps import STEP_NAMES, RequirementResult, Status, StepResult, Verification

_WORDS: dict[Status, tuple[str, str]] = {
    "ok": ("OK", "green"),
    "fail": ("FAIL", "red"),
    "pending": ("PENDING", "yellow"),
    "not_checked": ("NOT CHECKED", "yellow"),
    "not_due": ("NOT DUE", "bright_black"),
}
_INDENT = " " * 15  # of folded lines: the most that leaves room for a SHA-256 and a comma in 80 columns

# Up to so many results that say the same thing are told one by one.
_ALIKE = 2

NOT_PROVED = (
    "that the calls came after the plan was sealed (a log can be written later than its calls)",
    "that the responses are what the providers sent (most sign nothing)",
    "that there was no other battery or run in a registry never published",
)


def verification_text(verification: Verification, *, every: bool = False, width: int | None = None) -> str:
    """The lines to print.

    Parameters
    ----------
    every : one line per subject also where all subjects of a step are OK.
    width : columns to fold long lines at; None leaves each result one line, for a file or a pipe.
    """
    lines = []
    if verification.source:
        lines.append(f"target: {_visible(verification.source)}")
    if verification.subject:
        lines.append(f"judged: {_visible(verification.subject)}")
    for number in STEP_NAMES:
        lines += _step_lines(verification.step(number), every)
    lines += [_requirement_line(result) for result in verification.requirements]
    lines.append("")
    if verification.elsewhere:
        lines.append(_elsewhere(verification.elsewhere))
    color = {"ok": "green", "ok_except_time": "green", "fail": "red"}.get(verification.verdict, "yellow")
    # Styled word by word of meaning: a fold inside a colour would colour the margin.
    lines.append("verdict: " + click.style(verification.sentence, fg=color, bold=True))
    lines.append("not proved by any of this:")
    lines += [f"  - {sentence}" for sentence in NOT_PROVED]
    return "\n".join(folded for line in lines for folded in _fold(line, width))


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
    mark = _mark(str(first.step), first.status, first.name)
    example = _visible(f"{first.subject}: {first.detail}")
    return f"{mark} {len(same)} files{graded}, for example {example}"


def _mark(step: str, status: Status, name: str) -> str:
    word, color = _WORDS[status]
    return f"{step:>2}  {click.style(word.ljust(11), fg=color)}  {name}:"


def _line(result: StepResult) -> str:
    subject = f" {result.subject}:" if result.subject else ""
    grade = f" [{result.grade}]" if result.grade else ""
    told = _visible(f"{subject} {result.detail}")
    return f"{_mark(str(result.step), result.status, result.name)}{told}{grade}"


def _requirement_line(result: RequirementResult) -> str:
    return f"{_mark('-', result.status, result.name)} {_visible(result.detail)}"


def _visible(text: str) -> str:
    """Names and reasons come from the files under test: none may move a cursor or begin a line."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _elsewhere(results: tuple[StepResult, ...]) -> str:
    """What the rest of the workspace looks like, which the verdict leaves out."""
    counts = {word: sum(one.status == status for one in results) for status, (word, _) in _WORDS.items()}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"elsewhere in this workspace, not judged here: {told} (seal verify)"


def _fold(line: str, width: int | None) -> list[str]:
    """A line in pieces of at most `width` visible characters; hashes and paths stay whole."""
    if width is None or len(click.unstyle(line)) <= width:
        return [line]
    marked = line[:2].strip() in {*map(str, STEP_NAMES), "-"} and line[2:4] == "  "
    indent = _INDENT if marked else "    "
    escapes = len(line) - len(click.unstyle(line))
    first = _wrapped(line, width + escapes, indent)[0]
    rest = line[len(first) :].lstrip()
    return [first, *_wrapped(rest, width, indent, begun=True)]


def _wrapped(text: str, width: int, indent: str, *, begun: bool = False) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent if begun else "",
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
