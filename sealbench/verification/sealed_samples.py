"""Samples of a sealed battery in another harness's log, checked against the commitment of whoever checks.

Each sample carries its item opened (salt and path). In this order: the log names this commitment; the item
leads to the committed root; id and prompt are the item's; each sample stands once; the score follows from
the text by the named parser. The root is never read from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sealbench.analysis.audit_result import CheckedBattery
from sealbench.crypto import merkle
from sealbench.errors import CheckFailed
from sealbench.formats.battery import Commitment
from sealbench.formats.sealed_sample import METADATA_KEY, SCORER, SealedSample, score_value
from sealbench.logs.endings import content_text
from sealbench.logs.values import dig
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION, grade, parse


@dataclass
class _Seen:
    """What was met of one battery so far."""

    items: set[int] = field(default_factory=set)
    samples: int = 0
    regraded: int = 0
    altered: int = 0


class SampleCheck:
    """Samples one after the other, then what they amount to.

    Parameters
    ----------
    commitments : where it stands, and the commitment.
    required : whether a sample of another battery is an error; else it is counted as not checked.
    """

    def __init__(self, commitments: Mapping[str, Commitment], *, required: bool) -> None:
        self._required = required
        self._commitments = {one.digest(): (path, one) for path, one in commitments.items()}
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._once: set[tuple[int, str, Any]] = set()

    def add(self, record: Mapping[str, Any], file: int, name: str) -> None:
        """One sample as its log holds it; samples of no sealed battery are passed over.

        Parameters
        ----------
        file, name : which log it stands in, and what that log is called in errors.

        Raises
        ------
        CheckFailed, FormatError : it is not what was committed to; the message names log and sample.
        """
        carried = dig(record, "metadata", METADATA_KEY)
        if carried is None:
            return
        where = f"{name}, sample {record.get('id')}"
        digest, battery = dig(carried, "commitment"), dig(carried, "battery")
        found = self._commitments.get(digest) if isinstance(digest, str) else None
        seen = self._seen.setdefault((str(battery), str(digest)), _Seen())
        seen.samples += 1
        if found is None:
            if self._required:
                raise CheckFailed(
                    f"{where}: made from the battery {battery} by the commitment {digest}, which is none of "
                    "those given",
                    hint="name the commitment that the log was made from, or none",
                )
            return
        sealed = SealedSample.from_value(carried, where)
        _check_item(record, sealed, found[1], where)
        key = (file, sealed.opened.item.id, record.get("epoch"))
        if key in self._once:
            raise CheckFailed(f"{where}: stands twice in the same epoch", hint="copy the log again")
        self._once.add(key)
        seen.items.add(sealed.opened.index)
        seen.altered += _sent(record) not in (None, [("user", sealed.opened.item.prompt)])
        seen.regraded += _check_score(record, sealed, where)

    def results(self) -> tuple[CheckedBattery, ...]:
        """Every battery met, in the order met."""
        results = []
        for (battery, digest), seen in self._seen.items():
            path, commitment = self._commitments.get(digest, (None, None))
            results.append(
                CheckedBattery(
                    battery=battery,
                    commitment=digest,
                    path=path,
                    items=len(seen.items),
                    committed=None if commitment is None else commitment.items,
                    samples=seen.samples,
                    regraded=seen.regraded,
                    altered=seen.altered,
                )
            )
        return tuple(results)


def _check_item(record: Mapping[str, Any], sealed: SealedSample, commitment: Commitment, where: str) -> None:
    opened = sealed.opened
    path = [bytes.fromhex(step) for step in opened.path]
    try:
        merkle.verify_inclusion(
            opened.leaf(), opened.index, commitment.items, path, bytes.fromhex(commitment.root)
        )
    except CheckFailed as error:
        raise CheckFailed(
            f"{where}: not an item of {commitment.name}: {error.message}",
            hint="the log was changed, or was made from another battery",
        ) from error
    item = opened.item
    for what, held, wanted in (
        ("id", record.get("id"), item.id),
        ("prompt", record.get("input"), item.prompt),
        ("target", record.get("target"), item.answer),
    ):
        if held != wanted:
            raise CheckFailed(
                f"{where}: its {what} is not that of the committed item", hint="the log was changed"
            )


def _sent(record: Mapping[str, Any]) -> list[tuple[Any, Any]] | None:
    """(role, content) of what the model was sent before its first answer; None where the log has none."""
    messages = record.get("messages")
    if not isinstance(messages, list) or not messages:
        return None
    sent = []
    for message in messages:
        if dig(message, "role") == "assistant":
            break
        sent.append((dig(message, "role"), content_text(dig(message, "content"))))
    return sent


def _check_score(record: Mapping[str, Any], sealed: SealedSample, where: str) -> bool:
    """Whether the score could be computed again; CheckFailed where it differs."""
    held = dig(record, "scores", SCORER, "value")
    if held is None or (sealed.parser.name, sealed.parser.version) != (PARSER_NAME, PARSER_VERSION):
        return False
    item = sealed.opened.item
    text = content_text(dig(record, "output", "choices", 0, "message", "content"))
    value = score_value(grade(parse(text or "", item.answer_type), item.answer))
    if isinstance(value, str) and held != value:  # an ungraded item's is no number
        raise CheckFailed(
            f"{where}: its score is {held}, its text gives {value}",
            hint="the log was changed, or was scored by something else",
        )
    return True
