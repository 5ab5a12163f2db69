"""What reasoning changes: endpoints that differ in their reasoning setting alone, compared item by item.

Each instance's difference (first minus second endpoint, mean over the items and repeats asked of both) is
tested by exact sign flips; all tests of a run are corrected together (Holm). Nothing of this is registered.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from sealbench.analysis.hypotheses import adjusted_p
from sealbench.analysis.quantities import mean
from sealbench.analysis.rows import value_of
from sealbench.analysis.verbosity import yap_score
from sealbench.formats.preregistration import Endpoint
from sealbench.formats.run import LogLine, Run
from sealbench.stats.multiplicity import holm
from sealbench.stats.paired import sign_flip
from sealbench.stats.pvalue import PValue

MEASURES = ("yap_score", "accuracy", "censored")
_SETTINGS = ("reasoning_effort", "thinking_budget")
# Where hosts without a setting of their own take it, as a further request field.
_EXTRA = ("reasoning", "thinking", "enable_thinking", "chat_template_kwargs")


@dataclass(frozen=True)
class ReasoningPair:
    """Two endpoints that differ in reasoning alone, in the run's order, each with its setting in words."""

    first: str
    second: str
    first_setting: str
    second_setting: str


@dataclass(frozen=True)
class PairRow:
    """One pair at one cap and measure.

    Attributes
    ----------
    instances : with at least one usable pair of calls; `left_out` pairs of calls were not usable.
    first, second, change : means over these instances, and first minus second; None without any.
    """

    pair: ReasoningPair
    cap: int
    measure: str
    instances: int
    left_out: int
    first: Fraction | None
    second: Fraction | None
    change: Fraction | None
    p: PValue | None
    p_adjusted: PValue | None


def reasoning_pairs(endpoints: Sequence[Endpoint]) -> tuple[ReasoningPair, ...]:
    """All pairs with the same provider, model, address, cap parameter and settings but for reasoning."""
    found = []
    for first, second in combinations(endpoints, 2):
        (rest, setting), (other_rest, other_setting) = _parted(first), _parted(second)
        if rest == other_rest and setting != other_setting:
            found.append(ReasoningPair(first.name, second.name, _words(setting), _words(other_setting)))
    return tuple(found)


def compare_reasoning(run: Run, lines: Sequence[LogLine], *, time_limit: int = 2) -> tuple[PairRow, ...]:
    """Rows of every pair of the run's endpoints: YapScore at the largest cap, all else at every cap."""
    calls: dict[tuple[str, int], dict[tuple[str, int], LogLine]] = defaultdict(dict)
    for line in lines:
        calls[line.endpoint, line.cap][line.item, line.repeat] = line
    rows = [
        _row(pair, cap, measure, calls[pair.first, cap], calls[pair.second, cap], time_limit)
        for pair in reasoning_pairs(run.endpoints)
        for cap in sorted(run.caps)
        for measure in MEASURES
        if measure != "yap_score" or cap == max(run.caps)
    ]
    known = {str(place): row.p for place, row in enumerate(rows) if row.p is not None}
    adjusted = holm(known) if known else {}
    return tuple(
        row if row.p is None else replace(row, p_adjusted=adjusted_p(row.p, adjusted[str(place)]))
        for place, row in enumerate(rows)
    )


def _parted(endpoint: Endpoint) -> tuple[object, dict[str, object]]:
    """What must be equal, and the reasoning setting."""
    settings = dict(endpoint.settings)
    text = settings.pop("extra", "{}")
    extra = json.loads(text) if isinstance(text, str) else {}
    reasoning = {key: settings.pop(key) for key in _SETTINGS if settings.get(key) is not None}
    reasoning |= {key: extra.pop(key) for key in _EXTRA if key in extra}
    same = (endpoint.provider, endpoint.model, endpoint.base_url, endpoint.cap_parameter, settings, extra)
    return same, reasoning


def _words(setting: dict[str, object]) -> str:
    parts = (
        f"{key} {value if isinstance(value, str) else json.dumps(value)}" for key, value in setting.items()
    )
    return ", ".join(parts) or "not set"


def _row(
    pair: ReasoningPair,
    cap: int,
    measure: str,
    first: dict[tuple[str, int], LogLine],
    second: dict[tuple[str, int], LogLine],
    time_limit: int,
) -> PairRow:
    values: dict[str, list[tuple[int, int]]] = defaultdict(list)
    left_out = 0
    for key in sorted(set(first) & set(second)):
        one, other = _value(first[key], measure), _value(second[key], measure)
        if one is None or other is None:
            left_out += 1
        else:
            values[first[key].instance].append((one, other))
    means = [
        tuple(Fraction(sum(pair[side] for pair in own), len(own)) for side in (0, 1))
        for _, own in sorted(values.items())
    ]
    changes = [one - other for one, other in means]
    return PairRow(
        pair,
        cap,
        measure,
        len(means),
        left_out,
        mean([one for one, _ in means]),
        mean([other for _, other in means]),
        mean(changes),
        sign_flip(changes, time_limit=time_limit).p_value if changes else None,
        None,
    )


def _value(line: LogLine, measure: str) -> int | None:
    """YapScore of whole answers only: a cut one is shorter than it would have been."""
    if measure != "yap_score":
        return value_of(line, measure)
    whole = not (line.missing or line.censored or line.answer == "empty")
    return yap_score(line) if whole else None
