"""Which types of verbosity people saw, by endpoint and rater, and how far the raters agree.

Raters judge verbose answers at a run's largest cap, in an order drawn from the run's bytes, without the
endpoint's name; so the first rows of a sheet are a random sample, and a rater may stop anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sealbench.analysis.verbosity import is_verbose
from sealbench.crypto.stream import Stream
from sealbench.errors import FormatError
from sealbench.formats.annotation_sheet import Annotation
from sealbench.formats.run import LogLine, Run
from sealbench.stats.agreement import Agreement, cohen_kappa, fleiss_kappa


@dataclass(frozen=True)
class TypeCounts:
    """One rater and endpoint: answers by type, and verbose answers the rater has not judged."""

    rater: str
    endpoint: str
    types: Mapping[str, int]
    unrated: int


@dataclass(frozen=True)
class RatersAgreement:
    """Cohen's kappa of two raters, or Fleiss' of all of them, over the answers all of these judged."""

    raters: tuple[str, ...]
    agreement: Agreement


@dataclass(frozen=True)
class Annotations:
    """The table of one run; `agreements` is empty for a single rater."""

    run: str
    verbose: int
    counts: tuple[TypeCounts, ...]
    agreements: tuple[RatersAgreement, ...]


def verbose_lines(run: Run, lines: Sequence[LogLine]) -> list[LogLine]:
    """The answers to be judged, in the order drawn for this run."""
    cap = max(run.caps, default=0)
    found = [
        line
        for line in lines
        if line.cap == cap and is_verbose(line) and not line.missing and line.answer != "empty"
    ]
    Stream("sealbench/v1/annotation", run.digest()).shuffle(found)
    return found


def tabulate(run: Run, lines: Sequence[LogLine], sheets: Mapping[str, Sequence[Annotation]]) -> Annotations:
    """Count types and agreement of one run.

    Parameters
    ----------
    sheets : rater -> what they wrote; rows of other runs are not looked at.

    Raises
    ------
    FormatError : a sheet judges a line of this run that was not to be judged.
    """
    wanted = {line.seq: line for line in verbose_lines(run, lines)}
    judged: dict[str, dict[int, str]] = {}
    for rater, rows in sheets.items():
        own = [row for row in rows if row.run == run.name]
        strange = [row.line for row in own if row.line not in wanted]
        if strange:
            raise FormatError(
                f"{rater}: line {strange[0]} of run {run.name} is no verbose answer at its largest cap",
                hint=f"seal report {run.name} --annotate SHEET.csv writes the sheet that belongs to this run",
            )
        judged[rater] = {row.line: row.type for row in own if row.type is not None}
    counts = [
        _count(rater, endpoint.name, types, wanted)
        for rater, types in judged.items()
        for endpoint in run.endpoints
        if any(line.endpoint == endpoint.name for line in wanted.values())
    ]
    return Annotations(run.name, len(wanted), tuple(counts), tuple(_agreements(judged)))


def _count(rater: str, endpoint: str, types: Mapping[int, str], wanted: Mapping[int, LogLine]) -> TypeCounts:
    own = [seq for seq, line in wanted.items() if line.endpoint == endpoint]
    counted = Counter(types[seq] for seq in own if seq in types)
    return TypeCounts(rater, endpoint, counted, len(own) - counted.total())


def _agreements(judged: Mapping[str, Mapping[int, str]]) -> list[RatersAgreement]:
    """Every two raters; all of them together where there are more than two."""
    found = []
    for first, second in combinations(judged, 2):
        both = sorted(set(judged[first]) & set(judged[second]))
        kappa = cohen_kappa(*([judged[rater][seq] for seq in both] for rater in (first, second)))
        found.append(RatersAgreement((first, second), kappa))
    if len(judged) > 2:
        shared = sorted(set.intersection(*(set(types) for types in judged.values())))
        kappa = fleiss_kappa([[types[seq] for types in judged.values()] for seq in shared])
        found.append(RatersAgreement(tuple(judged), kappa))
    return found
