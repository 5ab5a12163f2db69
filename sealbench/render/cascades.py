"""Cascades and routing: what asking a second endpoint would have bought, beside random routing."""

from __future__ import annotations

from fractions import Fraction

from sealbench.analysis.cascade import Cascade
from sealbench.analysis.replay import Outcome, Shared
from sealbench.analysis.routing import DRAWS, Routing
from sealbench.render.document import DASH, Block, Grid, Paragraph, Section, clean, columns
from sealbench.render.numbers import number, share, usd

_F1 = (
    "F1 is of the answer's characters against the minimal answer's, from counts: a right answer holds the "
    "minimal one, a wrong one shares nothing with it."
)


def cascade_section(run: str, found: Cascade) -> Section:
    """The cascade beside each endpoint alone and random routing of equal cost."""
    names = [clean(name) for name in found.shared.endpoints]
    rows = [(name, *_cells(own)) for name, own in zip(names, found.alone, strict=True)]
    rows.append(("cascade", *_cells(found.outcome)))
    rows.append(("random routing of that cost", *_cells(found.random)))
    text = (
        f"Algorithm 1: the next endpoint is asked where the answer is verbose, cut, missing or empty; "
        f"{found.escalated} of {len(found.shared.calls)} calls. Random routing asks only the first or only "
        f"the last endpoint; its row is the exact expectation. {_F1}"
    )
    header = ("who", "right", "F1", "tokens per call", "USD per 1,000")
    grid = Grid(f"Cascade, run {clean(run)}", header, columns(rows), frozenset(range(1, 5)))
    blocks: list[Block] = [Paragraph(text), grid, *_remarks(found.shared, found.outcome)]
    return Section("cascade", "EXPLORATORY: cascade", tuple(blocks))


def routing_section(run: str, found: Routing) -> Section:
    """Every setting of the rule beside random routing of equal cost."""
    first, second = (clean(name) for name in found.shared.endpoints)
    rows = [
        (
            _probability(row.verbose_share),
            _probability(row.concise_share),
            share(row.second),
            share(row.outcome.right),
            share(row.least),
            share(row.most),
            share(row.outcome.f1),
            _cost(row.outcome),
            share(None if row.random is None else row.random.right),
            share(None if row.random is None else row.random.f1),
        )
        for row in found.rows
    ]
    unit = "charged tokens per call" if found.alone[0].usd is None else "USD per 1,000 calls"
    text = (
        f"Algorithm 3: {first} is asked, and {second} too with probability p_v where that answer is verbose, "
        f"cut, missing or empty ({found.verbose} of {len(found.shared.calls)} calls), with probability p_c "
        f"where it is not; its answer is then taken. Means over {DRAWS} seeded draws; worst and best: share "
        f"right of one draw. Cost: {unit}. Random routing of equal cost asks one endpoint only, its exact "
        "expectation; a dash: no one mixture of the two has this cost. F1 as above."
    )
    header = ("p_v", "p_c", "second", "right", "worst", "best", "F1", "cost", "random", "its F1")
    grid = Grid(f"Routing, run {clean(run)}", header, columns(rows), frozenset(range(2, 10)))
    blocks: list[Block] = [Paragraph(text), grid, *_remarks(found.shared, found.alone[0])]
    return Section("routing", "EXPLORATORY: routing by verbosity", tuple(blocks))


def _cells(own: Outcome | None) -> tuple[str, ...]:
    if own is None:
        return (DASH,) * 4
    return share(own.right), share(own.f1), number(own.tokens), usd(_thousand(own))


def _cost(own: Outcome) -> str:
    return number(own.tokens) if own.usd is None else usd(_thousand(own))


def _thousand(own: Outcome) -> Fraction | None:
    return None if own.usd is None else 1000 * own.usd


def _probability(value: Fraction) -> str:
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def _remarks(shared: Shared, told: Outcome) -> list[Block]:
    found: list[Block] = []
    if told.usd is None:
        text = (
            "Not every endpoint has a price, so equal cost means equal tokens. Tokens of different providers "
            "do not cost the same; the sum is only a count. Give prices with --price NAME=INPUT,OUTPUT."
        )
        found.append(Paragraph(text))
    if shared.without_usage:
        text = f"{shared.without_usage} calls report no usage and count as 0 tokens."
        found.append(Paragraph(text, strong=True))
    return found
