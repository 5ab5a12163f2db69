"""The four wordings of a two-class question, and the line that asks for the answer.

`plain` asks for the class that needs the search as "yes", `inverted` for its opposite, `labels` wants
the class word, `letters` wants A or B in an order drawn from the stream. The answer word changes, the
search does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from sealbench.crypto.stream import Stream
from sealbench.errors import UsageError
from sealbench.tasks.base import Rendered

WORDINGS = ("plain", "inverted", "labels", "letters")


@dataclass(frozen=True)
class Question:
    """A two-class problem as sentences.

    `plain` and `inverted` are yes/no questions, `either` asks which of the two words holds, `data` is
    the rest of the problem (may be empty), `yes` is the class that answers `plain` with Yes, `words`
    maps each class to the word that names it, in the order they are offered.
    """

    plain: str
    inverted: str
    either: str
    data: str
    yes: str
    words: dict[str, str]


def render_question(
    question: Question, class_label: str, wording: str, stream: Stream, category: str
) -> Rendered:
    """The question in one wording, with its right answer; UsageError for a wording that is not one."""
    if class_label not in question.words:
        raise UsageError(
            f"{category} has no class '{class_label}'", hint=f"it has {', '.join(question.words)}"
        )
    if wording in ("plain", "inverted"):
        says_yes = (class_label == question.yes) == (wording == "plain")
        asked = question.plain if wording == "plain" else question.inverted
        return _rendered(asked, question.data, ("Yes", "No"), "Yes" if says_yes else "No", "yes_no", category)
    words = tuple(question.words.values())
    if wording == "labels":
        kind = "label:" + ",".join(words)
        return _rendered(question.either, question.data, words, question.words[class_label], kind, category)
    if wording == "letters":
        order = list(words)
        stream.shuffle(order)
        letters = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(order)])
        lines = "\n".join(f"{letter}) {word}" for letter, word in zip(letters, order, strict=True))
        data = f"{question.data}\n\n{lines}" if question.data else lines
        answer = letters[order.index(question.words[class_label])]
        kind = "letter:" + ",".join(letters)
        return _rendered(question.either, data, letters, answer, kind, category)
    raise UsageError(f"{category} has no wording '{wording}'", hint=f"use one of: {', '.join(WORDINGS)}")


def _rendered(
    asked: str, data: str, choices: tuple[str, ...], answer: str, answer_type: str, category: str
) -> Rendered:
    forms = " or ".join(f'"Answer: {choice}"' for choice in choices)
    parts = [asked, data, f"End your reply with one line of the form {forms}."]
    prompt = "\n\n".join(part for part in parts if part)
    return Rendered(prompt, answer, answer_type, answer, category)
