"""`seal verify --explain`: what a step means, what it catches, how to check it by hand."""

from __future__ import annotations

import textwrap

from sealbench.cli.console import Console
from sealbench.errors import UsageError
from sealbench.verification.explanations import EXPLANATIONS
from sealbench.verification.steps import STEP_NAMES


def explain_steps(console: Console, text: str, *, as_json: bool) -> int:
    """Print what a step means (all of them as a list for an empty `text`); UsageError for no such step."""
    if text and text not in map(str, STEP_NAMES):
        raise UsageError(
            f"there is no step {text!r:.40}", hint="seal verify --explain, then a number from 1 to 12"
        )
    chosen = [int(text)] if text else list(STEP_NAMES)
    if as_json:
        steps = [
            {
                "step": step,
                "name": STEP_NAMES[step],
                "checks": EXPLANATIONS[step].checks,
                "catches": EXPLANATIONS[step].catches,
                "by_hand": EXPLANATIONS[step].hand,
                "reading": EXPLANATIONS[step].reading,
            }
            for step in chosen
        ]
        console.json({"schema": "sealbench/explain/v1", "steps": steps})
    elif text:
        console.result(_explanation(int(text), width=console.width))
    else:
        console.result(_list())
    return 0


def _explanation(step: int, *, width: int | None = None) -> str:
    """What one step means, what it catches, and how to repeat it by hand."""
    one = EXPLANATIONS[step]
    told = {
        f"step {step}": STEP_NAMES[step],
        "checks": one.checks.replace("([timestamps.md](timestamps.md))", "(docs/timestamps.md)"),
        "catches": one.catches,
    }
    lines = [f"{name:<8} {text}" for name, text in told.items()]
    folded = [
        piece for line in lines for piece in textwrap.wrap(line, width or 80, subsequent_indent=" " * 9)
    ]
    hand = [
        "",
        "by hand, in the workspace, with NAME, PLAN and RUN set:",
        "",
        textwrap.indent(one.hand, "    "),
        "",
    ]
    return "\n".join([*folded, *hand, *textwrap.wrap(one.reading, width or 80)])


def _list() -> str:
    """The steps and their names."""
    steps = [f"{step:>2}  {name}" for step, name in STEP_NAMES.items()]
    return "\n".join([*steps, "", "seal verify --explain STEP"])
