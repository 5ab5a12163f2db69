"""Does the cost follow the search or the answer word? The same instances asked in two or more wordings.

If the side that needs the whole search costs more in every wording, the answer word cannot be the reason.
The rest is secondary and never a verdict: with two wordings and no cost cut, the class effect on sums
(search), on differences (word, with an interval) and on ratios.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from sealbench.analysis.cost import cost_pairs
from sealbench.analysis.quantities import interval_record, p_number
from sealbench.analysis.rows import Table, is_reference
from sealbench.formats.report import Inversion, PNumber
from sealbench.formats.run import LogLine
from sealbench.stats.inversion import inversion_control
from sealbench.stats.permutation import mean_difference
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import TESTED, TestResult

Row = list[tuple[Fraction, bool]]
Strata = list[tuple[list[Row], list[Row]]]
_MOST_SECONDARY = 64  # instances; the interval takes two dozen tests


def inversions(table: Table, *, time_limit: int) -> tuple[Inversion, ...]:
    """One control per family with several wordings, endpoint and cap; none where no side needs a search."""
    found = []
    for family in table.families:
        wordings = table.wordings(family)
        sides = {line.search for line in table.items.values() if line.family == family}
        if len(wordings) < 2 or not {"exhaustive", "witness"} <= sides:
            continue
        for endpoint in table.run.endpoints:
            for cap in table.run.caps:
                lines = table.select({"family": family}, endpoint.name, cap).lines
                strata, left_out = _strata(lines, wordings)
                fields = _control(strata, time_limit)
                found.append(
                    Inversion.model_validate(
                        {
                            "family": family,
                            "wordings": wordings,
                            "endpoint": endpoint.name,
                            "reference": is_reference(endpoint),
                            "cap": cap,
                            "left_out": left_out,
                            **fields,
                        }
                    )
                )
    return tuple(found)


def _strata(lines: Sequence[LogLine], wordings: Sequence[str]) -> tuple[Strata, int]:
    """Per stratum the rows of both sides, and how many instances lack a cost in some wording."""
    costs: dict[str, dict[str, list[tuple[int, bool]]]] = defaultdict(lambda: defaultdict(list))
    described: dict[str, LogLine] = {}
    for line in lines:
        described.setdefault(line.instance, line)
        costs[line.instance][line.wording].extend(cost_pairs([line]))
    strata: dict[tuple[str, ...], tuple[list[Row], list[Row]]] = {}
    left_out = 0
    for instance, line in sorted(described.items()):
        own = [costs[instance][wording] for wording in wordings]
        if line.search == "none" or not all(own):
            left_out += 1
            continue
        # As in every test: unequal usable repeats are a stratum.
        key = (line.stratum, ",".join(str(len(pairs)) for pairs in own))
        row = [
            (Fraction(sum(cost for cost, _ in pairs), len(pairs)), all(whole for _, whole in pairs))
            for pairs in own
        ]
        strata.setdefault(key, ([], []))[0 if line.search == "exhaustive" else 1].append(row)
    return [strata[key] for key in sorted(strata)], left_out


def _control(strata: Strata, time_limit: int) -> dict[str, object]:
    """The record's p-values, interval and reasons."""
    size = sum(len(first) + len(second) for first, second in strata)
    nothing: dict[str, object] = dict.fromkeys(
        ("p", "search_p", "word_p", "ratio_p", "word_interval"), None
    ) | {"by_wording": [], "restricted": False, "reason": "", "secondary_reason": ""}
    if not any(first and second for first, second in strata):
        return nothing | {"reason": "no stratum holds instances of both sides with a cost in every wording"}
    if size > _MOST_SECONDARY:
        tests = _by_wording(strata, time_limit)
        reason = f"secondary measures are computed up to {_MOST_SECONDARY} instances"
        return nothing | _primary(tests, strata) | {"secondary_reason": reason}
    result = inversion_control(strata=strata, time_limit=time_limit)
    return (
        nothing
        | _primary(result.wordings, strata)
        | {
            "p": p_number(result.p_value) if result.status == TESTED else None,
            "reason": result.reason,
            "search_p": _p(result.sums),
            "word_p": _p(result.differences),
            "ratio_p": _p(result.ratios),
            "word_interval": interval_record(result.word_interval),
            "secondary_reason": result.secondary_reason,
        }
    )


def _by_wording(strata: Strata, time_limit: int) -> tuple[TestResult, ...]:
    """In each wording, whether the exhaustive side costs more (one-sided)."""
    count = next(len(row) for pair in strata for part in pair for row in part)
    return tuple(
        mean_difference(
            strata=[
                ([row[place][0] for row in one], [row[place][0] for row in zero]) for one, zero in strata
            ],
            alternative="greater",
            time_limit=time_limit,
        )
        for place in range(count)
    )


def _primary(tests: Sequence[TestResult], strata: Strata) -> dict[str, object]:
    largest: PValue = max((test.p_value for test in tests), key=lambda p: p.conservative)
    return {
        "p": p_number(largest),
        "by_wording": [p_number(test.p_value) for test in tests],
        "restricted": any(not whole for pair in strata for part in pair for row in part for _, whole in row),
    }


def _p(result: TestResult | None) -> PNumber | None:
    return None if result is None else p_number(result.p_value)
