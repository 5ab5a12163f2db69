"""Each endpoint of a run in one table: what was asked of it, how its calls ended, what they cost and scored.

Counts are responses over all families, wordings and classes at one cap; no test rests on them. The tests
and scores by class stand in their own sections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from sealbench.analysis.quantities import exact_or_none
from sealbench.analysis.rows import Table, is_reference
from sealbench.formats.report_endpoints import EndpointAtCap, EndpointSummary, ReportedModel
from sealbench.formats.report_numbers import Policies
from sealbench.formats.run import LogLine
from sealbench.stats.bounds import Outcomes, score_bounds


def endpoint_summaries(table: Table) -> tuple[EndpointSummary, ...]:
    """One summary per endpoint of run.json, in its order; caps in the order of the run."""
    cells: dict[tuple[str, int], list[LogLine]] = defaultdict(list)
    models: dict[str, Counter[str]] = defaultdict(Counter)
    for line in table.lines:
        cells[line.endpoint, line.cap].append(line)
        if line.model is not None:
            models[line.endpoint][line.model] += 1
    calls = len(table.run.endpoints) * len(table.run.caps)
    planned = table.run.planned_calls // calls if calls else 0
    return tuple(
        EndpointSummary(
            name=endpoint.name,
            provider=endpoint.provider,
            model=endpoint.model,
            reported=tuple(
                ReportedModel(model=model, responses=count)
                for model, count in sorted(models[endpoint.name].items())
            ),
            reference=is_reference(endpoint),
            cap_parameter=endpoint.cap_parameter,
            settings=endpoint.settings,
            probed=endpoint.probed,
            caps=tuple(_at_cap(cap, cells.get((endpoint.name, cap), ()), planned) for cap in table.run.caps),
        )
        for endpoint in table.run.endpoints
    )


def _at_cap(cap: int, lines: Sequence[LogLine], planned: int) -> EndpointAtCap:
    """`planned` is the number of calls that run.json plans for each endpoint and cap."""
    present = [line for line in lines if not line.missing]
    ends = Counter(line.end for line in lines)
    absent = max(0, planned - len({line.key for line in lines}))
    charged = [line.charged_tokens for line in present if line.charged_tokens is not None]
    return EndpointAtCap(
        cap=cap,
        planned=planned,
        responses=len(present),
        missing=ends["error"],
        absent=absent,
        cut_reported=ends["cut_reported"],
        cut_inferred=ends["cut_inferred"],
        cut_other=ends["cut_other"],
        lost=sum(line.lost for line in lines),
        empty=sum(line.answer == "empty" for line in present),
        refused=ends["refused"],
        filtered=ends["filtered"],
        unknown=ends["unknown"],
        at_cap=sum(line.at_cap for line in lines),
        not_binding=sum(line.not_binding for line in lines),
        no_usage=len(present) - len(charged),
        charged_tokens=sum(charged) if charged else None,
        reasoning_tokens=_total([line.reasoning_tokens for line in present]),
        prompt_tokens=_total([line.prompt_tokens for line in present]),
        score=_score(present, ends["error"] + absent),
    )


def _total(counts: Sequence[int | None]) -> int | None:
    """The sum of what was reported; None where nothing was, which is not 0."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _score(present: Sequence[LogLine], missing: int) -> Policies:
    """All graded answers together under each policy; missing and absent ones are in the bounds only."""
    graded = [line for line in present if line.answer != "ungraded"]
    right = sum(line.answer == "right" for line in graded)
    lost = sum(line.lost for line in graded)
    score = score_bounds({"all": Outcomes(right, len(graded) - right - lost, lost, missing)}).overall
    bounds = score.bounds
    return Policies(
        responses=len(graded),
        cut_wrong=exact_or_none(score.cut_wrong),
        cut_dropped=exact_or_none(score.cut_dropped),
        low=exact_or_none(bounds.low if bounds is not None else None),
        high=exact_or_none(bounds.high if bounds is not None else None),
    )
