"""What a sample of another harness carries of a sealed battery: one item, opened, and what it is bound to.

The harness copies it into its log, so that the log alone can be checked against a commitment. Whoever
checks takes the root from a commitment of their own, never from here.
"""

from __future__ import annotations

from math import nan
from typing import Literal

from pydantic import Field

from sealbench.formats.base import Hash, Name, Record
from sealbench.formats.preregistration import Parser
from sealbench.formats.reveal import OpenedItem

METADATA_KEY = "sealbench"  # the field of a sample's metadata under which it stands
SCORER = "sealed_answer"  # the name under which the battery's own scorer writes its scores


class SealedSample(Record):
    """One item in a harness's log. `commitment` is the SHA-256 of the commitment's file."""

    schema_: Literal["sealbench/sample/v1"] = Field("sealbench/sample/v1", alias="schema")
    battery: Name
    commitment: Hash
    parser: Parser
    opened: OpenedItem


def score_value(grade: str | None) -> str | float:
    """A grade in the harness's marks: C right, N nothing visible, I anything else; NaN for ungraded items."""
    if grade is None:
        return nan
    if grade in ("empty", "unclosed_reasoning"):
        return "N"
    return "C" if grade == "right" else "I"
