"""Reading the final answer from a reply, by exact rules with a name and a version.

A reply is graded from the item alone: `grade(parse(visible_text, item.answer_type), item.answer)`.

Answer types name the possible answers themselves:

    yes_no                 Yes or No
    label:prime,composite  one of these words
    letter:A,B             one of these letters (`letter` alone is A or B)
    number                 a whole number
    text                   one line of free text, compared without case, quotes and closing punctuation
    ungraded               no right answer; any visible reply counts as given

Rules, in this order:

1. Nothing visible is `empty`. Reasoning blocks (`<think>`, `<thinking>`, `<thought>`, `<reasoning>`) are
   cut out; one that does not close is `unclosed_reasoning`, whatever stands in it or before it. A closing
   tag without an opening one ends a block that began with the reply.
2. Markdown, LaTeX, quotes and casing are taken off.
3. A marked answer is what follows `Answer:`, `Final answer:`, `The answer is` or stands in `\\boxed{}`.
   After a colon the line's first clause must be a choice as a whole ("No divisor found" is not "No"); the
   next line counts if the marker ends its line. A later clause of that line counts if it is a choice too.
   "The answer is" followed by anything but a choice is prose.
4. The last marker with a colon must hold a choice. All marked answers of the reply must agree: two
   different ones are `unparseable`, never the last one.
5. Without a marker the first and the last line count, each if its first clause is a choice as a whole;
   for words also `It is prime.` as a whole line. They must agree.
6. Anything else is `unparseable`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from sealbench.errors import UsageError

PARSER_NAME = "sealbench-answers"
PARSER_VERSION = 1

Status: TypeAlias = Literal["answer", "empty", "unparseable", "unclosed_reasoning"]
Grade: TypeAlias = Literal["right", "wrong", "unparseable", "empty", "unclosed_reasoning"]

_TAG = re.compile(r"<\s*(/?)\s*(think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_MARKUP = re.compile(r"[*_`#>~$\"'{}]|\\[()\[\]]")
_MARKER = re.compile(
    r"\b(?:(?:my|the|your|final|correct|short)\s){0,3}answer\b\s*(?:(?P<colon>(?:is\s*)?[:=])|(?P<prose>is\b))",
    re.IGNORECASE,
)
# What every marker holds, in lower case: a literal beginning makes this search far cheaper than the whole.
_MARKER_TAIL = re.compile(r"answer\b\s*[:=iı]")
_HEADING = re.compile(r"^\s*(?:(?:my|the|final|correct)\s){0,3}answer\s*$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;:!?()\[\]/|–—]|\s-+\s|\sor\s")
_QUOTES = {ord(char): "'" for char in "‘’‚‛“”„‟«»‹›「」"}
_SPECIAL = re.compile(r"</?s>|<\|[^|>\n]*\|>|<end_of_turn>|<eos>", re.IGNORECASE)


class _Decoration(dict[int, int | None]):
    """For `translate`: emoji and other symbols, which only decorate, go; every blank becomes a space.

    Filled as characters are met.
    """

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        if char.isspace() and char != "\n":
            self[code] = ord(" ")
        else:
            self[code] = None if unicodedata.category(char) in ("So", "Sk", "Cf", "Mn") else code
        return self[code]


_DECORATION = _Decoration()


@dataclass(frozen=True)
class _Reader:
    """How an answer type reads text: `read` gives the choice a piece of text is, or None."""

    read: Callable[[str], str | None]
    whole_line: bool = False  # numbers and free text hold commas and full stops of their own
    is_word: bool = False  # a sentence can end in a class word
    ungraded: bool = False


@dataclass(frozen=True)
class ParsedAnswer:
    """What a reply says. `value` is the choice as the item spells it, None without a readable one."""

    status: Status
    value: str | None


def parse(text: str | None, answer_type: str, choices: Sequence[str] | None = None) -> ParsedAnswer:
    """Read the final answer from the visible text of a reply.

    `choices` replaces those that the answer type names. UsageError for an unknown answer type.
    """
    reader = _reader_of(answer_type, None if choices is None else tuple(choices))
    visible = _without_reasoning(text or "")
    if visible is None:
        return ParsedAnswer("unclosed_reasoning", None)
    if not visible.strip():
        return ParsedAnswer("empty", None)
    if reader.ungraded:
        return ParsedAnswer("answer", None)
    plain, boxed = _without_markup(visible)
    values = _marked(plain, boxed, reader)
    if values is None:
        values = _unmarked(plain, reader)
    first = values[0]
    if first is None or any(value is None or _key(value) != _key(first) for value in values):
        return ParsedAnswer("unparseable", None)
    return ParsedAnswer("answer", first)


def grade(parsed: ParsedAnswer, expected_answer: str) -> Grade | None:
    """Compare with the item's answer; None for a given reply to an item without a right answer."""
    if parsed.status != "answer":
        return parsed.status
    if parsed.value is None:
        return None
    return "right" if _key(parsed.value) == _key(expected_answer) else "wrong"


def check_answer_type(answer_type: str) -> None:
    """UsageError unless `parse` knows this answer type."""
    _reader_of(answer_type, None)


def choices_of(answer_type: str) -> tuple[str, ...]:
    """The answers that a type allows, as items spell them; () for number, text and ungraded."""
    name, _, listed = answer_type.partition(":")
    if name == "yes_no" and not listed:
        return ("Yes", "No")
    if name in ("label", "letter"):
        words = tuple(word.strip() for word in listed.split(",") if word.strip())
        if words or name == "letter":
            return words or ("A", "B")
    if answer_type in ("number", "text", "ungraded"):
        return ()
    raise UsageError(
        f"there is no answer type '{answer_type}'",
        hint="use yes_no, label:WORD,WORD, letter:A,B, number, text or ungraded",
    )


@lru_cache(maxsize=256)
def _reader_of(answer_type: str, choices: tuple[str, ...] | None) -> _Reader:
    allowed = choices_of(answer_type) if choices is None else choices
    if answer_type == "ungraded":
        return _Reader(lambda text: None, ungraded=True)
    if answer_type == "number":
        return _Reader(_read_number, whole_line=True)
    if answer_type == "text":
        return _Reader(lambda line: line.strip() or None, whole_line=True)
    spelled = {_key(choice): choice for choice in allowed}
    if not answer_type.startswith("label"):
        return _Reader(lambda clause: spelled.get(_key(clause)))

    def read_word(clause: str) -> str | None:
        key = _key(clause)
        return spelled.get(key) or spelled.get(re.sub(r"^an? | number$", "", key))

    return _Reader(read_word, is_word=True)


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .!'\"")


def _read_number(clause: str) -> str | None:
    match = re.fullmatch(r"\s*([+-]?)(\d+|\d{1,3}(?:[, ]\d{3})+)\s*\.?\s*", clause)
    if match is None:
        return None
    digits = re.sub(r"\D", "", match[2]).lstrip("0") or "0"
    return "-" + digits if match[1] == "-" and digits != "0" else digits


def _without_reasoning(text: str) -> str | None:
    """The text outside reasoning blocks, or None if a block does not close."""
    kept: list[str] = []
    depth, start = 0, 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            if depth == 0:
                kept.clear()  # a block that began with the reply: templates put its opening tag in the prompt
            depth = max(depth - 1, 0)
        else:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
        start = tag.end()
    if depth:
        return None
    return "".join([*kept, text[start:]])


def _without_markup(text: str) -> tuple[str, list[str]]:
    """The text without markdown and LaTeX, and the contents of its \\boxed{} parts."""
    text = _SPECIAL.sub(" ", unicodedata.normalize("NFKC", text).translate(_QUOTES))
    boxed = [_bare(content) for content in re.findall(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}", text)]
    return _bare(text), boxed


def _bare(text: str) -> str:
    while (simpler := _LATEX.sub(r"\1", text)) != text:
        text = simpler
    text = _MARKUP.sub("", text).translate(_DECORATION)
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _marked(plain: str, boxed: list[str], reader: _Reader) -> list[str | None] | None:
    """All marked answers; [None] if the last colon marker holds no choice, None if nothing is marked."""
    values: list[str | None] = [reader.read(content) for content in boxed]
    last_colon_holds = True
    seen = bool(boxed)
    for colon, rest in _markers(plain):
        found = _read_line(rest, reader)
        if colon:
            seen = True
            last_colon_holds = bool(found)
        values += found
        seen = seen or bool(found)
    if not seen:
        return None
    return values if values and last_colon_holds else [None]


def _markers(plain: str) -> Iterator[tuple[bool, str]]:
    """(whether the marker is explicit, the text it marks) for each marker, in order."""
    lines = [line for line in plain.split("\n") if line.strip()]
    for place, line in enumerate(lines):
        lowered = line.lower()
        if "answer" not in lowered:
            continue  # no marker without it, and most lines of a reply are without
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if _HEADING.match(line):
            yield True, following
            continue
        if not _MARKER_TAIL.search(lowered):
            continue
        matches = list(_MARKER.finditer(line))
        ends = [match.start() for match in matches[1:]] + [len(line)]
        for match, end in zip(matches, ends, strict=False):
            rest = line[match.end() : end]
            yield match["colon"] is not None, rest if rest.strip() or end < len(line) else following


def _read_line(rest: str, reader: _Reader) -> list[str | None]:
    """The choices of one marked line: its first clause, and later clauses that are choices too."""
    if reader.whole_line:
        whole = reader.read(rest)
        return [] if whole is None else [whole]
    clauses = [clause for clause in _CLAUSE_END.split(rest) if clause.strip()]
    if not clauses or reader.read(clauses[0]) is None:
        return []
    return [value for clause in clauses if (value := reader.read(clause)) is not None]


def _unmarked(plain: str, reader: _Reader) -> list[str | None]:
    """The choices of the first and the last line; numbers and free text only as the whole reply."""
    lines = [line.strip() for line in plain.split("\n") if line.strip()]
    if reader.whole_line:
        return [reader.read(lines[0])] if len(lines) == 1 else [None]
    values: list[str | None] = []
    for line in dict.fromkeys([lines[0], lines[-1]] if lines else []):
        values += _read_line(line, reader) or (_read_sentence(line, reader) if reader.is_word else [])
    return values or [None]


def _read_sentence(line: str, reader: _Reader) -> list[str | None]:
    """`It is prime.`, `So 91 is a composite number.`: a whole line that says the word of one thing."""
    match = re.fullmatch(
        r"(?:(?:so|thus|hence|therefore),? )?(?:it|this|\d+|the number(?: \d+)?|this number) is "
        r"(?:an? )?(.+?)(?: number)?[.!]?",
        line,
        re.IGNORECASE,
    )
    value = reader.read(match[1]) if match else None
    return [] if value is None else [value]
