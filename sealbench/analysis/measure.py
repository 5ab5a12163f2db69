"""From one response to the fields of its log line: end, graded answer, lengths.

Pure, so that verification repeats it on the raw responses of a retired battery.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sealbench.endpoints.ending import Parsed, settle_end
from sealbench.formats.battery import Item
from sealbench.formats.run import AttemptRecord
from sealbench.tasks.answers import ParsedAnswer, grade, parse

# Characters that only format (statistics design, "Verbosity"): anywhere, and marks that open a line.
_INLINE_MARKS = re.compile(r"[*_`#>|~]")
_LINE_MARKS = re.compile(r"^[ \t]*(?:[-+]|\d+[.)])[ \t]+", re.MULTILINE)
# As the Treebank tokeniser cuts a line: compounds and numbers whole, contractions in two, each punctuation
# mark by itself ("TF-IDF, NVDM." has 4). Only full stops of abbreviations differ.
_TOKEN = re.compile(
    r"\.{3}|--|'(?:s|m|d|ll|re|ve)\b|n't\b|\w+?(?=n't\b)|\w+(?:(?:[-/.]|[,:](?=\d))\w+)*|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Measured:
    """What is computed from one response; names and units as in `formats.run.LogLine`."""

    end: str
    answer: str
    parsed: str | None
    at_cap: bool
    not_binding: bool
    visible_characters: int
    characters_without_markdown: int
    minimal_characters: int
    first_line_tokens: int
    longest_step: int


def measure(parsed: Parsed, item: Item, cap: int) -> Measured:
    """Read the answer, settle how the call ended, and count the visible text."""
    # A provider cuts reasoning out of the visible text, so it alone knows whether a block stayed open.
    read = ParsedAnswer("unclosed_reasoning", None)
    if not parsed.unclosed_reasoning:
        read = parse(parsed.text, item.answer_type)
    settled = settle_end(parsed, cap, read.status)
    lengths = count_text(parsed.text or "")
    return Measured(
        end=settled.end,
        answer=grade(read, item.answer) or "ungraded",
        parsed=read.value,
        at_cap=settled.at_cap,
        not_binding=settled.not_binding,
        minimal_characters=len(item.minimal_answer),
        visible_characters=lengths[0],
        characters_without_markdown=lengths[1],
        first_line_tokens=lengths[2],
        longest_step=lengths[3],
    )


def count_text(text: str) -> tuple[int, int, int, int]:
    """(characters, characters without markdown, tokens of the first line, tokens of the longest line).

    Tokens as the verbosity rule's authors count them (NLTK's Treebank tokeniser); empty lines do not count.
    """
    plain = _INLINE_MARKS.sub("", _LINE_MARKS.sub("", text))
    counts = [len(_TOKEN.findall(line)) for line in plain.splitlines() if line.strip()]
    return len(text), len(plain), counts[0] if counts else 0, max(counts, default=0)


def log_fields(
    parsed: Parsed,
    item: Item,
    *,
    endpoint: str,
    cap: int,
    cap_parameter: str,
    repeat: int,
    attempts: Sequence[AttemptRecord],
) -> dict[str, Any]:
    """All fields of a call's log line but `seq`, `prev` and the two salted hashes."""
    measured = measure(parsed, item, cap)
    return {
        "item": item.id,
        "instance": item.instance,
        "family": item.family,
        "class_label": item.class_label,
        "kind": item.kind,
        "stratum": item.stratum,
        "search": item.search,
        "wording": item.wording,
        "category": item.category,
        "endpoint": endpoint,
        "model": parsed.model,
        "cap": cap,
        "cap_parameter": cap_parameter,
        "repeat": repeat,
        "stop": parsed.stop,
        "charged_tokens": parsed.charged_tokens,
        "visible_tokens": parsed.visible_tokens,
        "reasoning_tokens": parsed.reasoning_tokens,
        "prompt_tokens": parsed.prompt_tokens,
        "mean_logprob": parsed.mean_logprob,
        "attempts": [attempt.to_value() for attempt in attempts],
        "fingerprint": parsed.fingerprint,
        **vars(measured),
    }
