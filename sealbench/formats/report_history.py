"""The part of a report that comes from the registry: amendments of its plan, batteries rebuilt."""

from __future__ import annotations

from typing import Literal

from sealbench.formats.base import Bool, Count, Record, Str


class RelatedEvent(Record):
    """A plan that amends another, or a battery that supersedes another.

    `line` is the registry's line, counted from 1; `after_start` says whether it stands after the run's start.
    `earlier` is the plan amended or the battery replaced, `later` what came in its place, and `void` the void
    verdict that a rebuilt battery answers (null where its commitment names none, and for amendments).
    """

    event: Literal["amend", "supersede"]
    line: Count
    after_start: Bool
    earlier: Str
    later: Str
    void: Str | None
