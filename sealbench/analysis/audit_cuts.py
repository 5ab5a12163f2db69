"""What was cut: reported, inferred from tokens at the cap, lost, empty; and the cap that no log names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sealbench.analysis.audit_result import ClassCounts
from sealbench.analysis.audit_table import ENDS, TEXTS, GroupTable, Ints

Flags = NDArray[np.bool_]
_FEWEST = 20  # token counts from which a mass point can be told
_MASS = 5
_SHORTEST_CAP = 16  # tokens; below it equal lengths are short answers, not a cap


@dataclass(frozen=True)
class Cuts:
    """Per row of a table what happened to it; `cap` and where it comes from; remarks for the reader."""

    cap: int | None
    cap_source: str
    missing: Flags
    reported: Flags
    inferred: Flags
    other: Flags
    at_cap: Flags
    invisible: Flags
    unclosed: Flags
    refused: Flags
    judged: Flags
    text_known: Flags
    remarks: tuple[str, ...]

    @property
    def cut(self) -> Flags:
        """Reported or inferred."""
        return self.reported | self.inferred

    @property
    def lost(self) -> Flags:
        """Cut with nothing visible."""
        return self.cut & self.invisible


def find_cuts(table: GroupTable, given_cap: bool) -> Cuts:
    """Decide for every row; a cap the log does not name is proposed and labelled "inferred"."""
    end, text, tokens = table.end(), table.text(), table.tokens()
    is_end = {name: end == place for place, name in enumerate(ENDS)}
    is_text = {name: text == place for place, name in enumerate(TEXTS)}
    missing, refused = is_end["error"], is_end["refused"] | is_end["filtered"]
    usable = ~missing & ~refused
    remarks: list[str] = []
    cap, source = table.cap, "option" if given_cap else "log"
    if cap is None:
        cap, source = _proposed(tokens, is_end["cut_reported"], usable, remarks)
    has_tokens = tokens >= 0
    at_cap = has_tokens & (tokens >= cap) & ~missing if cap is not None else np.zeros_like(missing)
    beyond = int(np.count_nonzero(at_cap & (tokens > (cap or 0) + 1) & ~is_end["cut_reported"]))
    binding = beyond == 0
    if not binding:
        remarks.append(
            f"{beyond} responses are longer than the cap of {cap} by more than one token: this cap does not "
            "bind these counts, so no cut is inferred from them"
        )
    unclosed = is_text["unclosed"] & usable
    invisible = (is_text["empty"] | is_text["unclosed"]) & usable
    open_end = (is_end["finished"] | is_end["unknown"]) & usable
    inferred = open_end & unclosed
    if binding:
        inferred |= open_end & at_cap & (is_end["unknown"] | invisible)
    judged = usable & (~is_end["unknown"] | unclosed | (has_tokens if cap is not None and binding else False))
    if cap is not None:
        _remark_on_cap(at_cap, tokens, cap, inferred, is_end["finished"] & ~inferred, remarks)
    return Cuts(
        cap,
        source,
        missing,
        is_end["cut_reported"],
        inferred,
        is_end["cut_other"],
        at_cap,
        invisible,
        unclosed,
        refused,
        judged,
        ~is_text["unknown"] & usable,
        tuple(remarks),
    )


def _proposed(tokens: Ints, reported: Flags, usable: Flags, remarks: list[str]) -> tuple[int | None, str]:
    """The length at which reported cuts stand, else the largest length if many responses have exactly it."""
    cut_at = tokens[reported & (tokens >= 0)]
    if len(cut_at):
        values, counts = np.unique(cut_at, return_counts=True)
        place = int(np.argmax(counts))
        if counts[place] * 2 > len(cut_at):
            remarks.append(
                f"the log names no cap: {counts[place]} of {len(cut_at)} reported cuts have exactly "
                f"{values[place]} tokens, so the cap is inferred to be {values[place]} (--cap N says better)"
            )
            return int(values[place]), "inferred"
        return None, ""
    known = tokens[usable & (tokens >= 0)]
    if len(known) < _FEWEST:
        return None, ""
    values, counts = np.unique(known, return_counts=True)
    top, mass = int(values[-1]), int(counts[-1])
    near = counts[:-1][values[:-1] * 2 >= top]
    if top < _SHORTEST_CAP or len(values) < 6 or mass < max(_MASS, 3 * int(near.max(initial=0))):
        return None, ""
    remarks.append(
        f"the log names no cap: {mass} responses have exactly {top} tokens and none has more, so the cap is "
        f"inferred to be {top} (--cap N says better)"
    )
    return top, "inferred"


def _remark_on_cap(
    at_cap: Flags, tokens: Ints, cap: int, inferred: Flags, finished: Flags, remarks: list[str]
) -> None:
    from_tokens = inferred & at_cap
    total = int(np.count_nonzero(from_tokens))
    exactly = int(np.count_nonzero(from_tokens & (tokens == cap)))
    longer = int(np.count_nonzero(from_tokens & (tokens > cap)))
    if exactly:
        remarks.append(
            f"{total} cuts are inferred: no stop reason says so, but their tokens "
            f"reach the cap ({exactly} have exactly {cap}). By the counterfactual rule, tokens > {cap}, "
            f"these would be {longer}: a response that a cap stopped is not "
            "longer than that cap"
        )
    quiet = int(np.count_nonzero(finished & at_cap))
    if quiet:
        remarks.append(
            f"{quiet} responses reach the cap and are called finished, with visible text: not counted as "
            "cut; read some of them, since some servers call a broken-off text finished"
        )


def counts_of(cuts: Cuts, rows: Flags, items: int) -> ClassCounts:
    """The counts of the rows of one class."""

    def count(flags: Flags) -> int:
        return int(np.count_nonzero(flags & rows))

    return ClassCounts(
        items=items,
        responses=count(~cuts.missing),
        cut_reported=count(cuts.reported),
        cut_inferred=count(cuts.inferred),
        cut_other=count(cuts.other),
        at_cap=count(cuts.at_cap),
        empty=count(cuts.invisible),
        unclosed=count(cuts.unclosed),
        lost=count(cuts.lost),
        judged=count(cuts.judged),
        refused=count(cuts.refused),
        missing=count(cuts.missing),
    )
