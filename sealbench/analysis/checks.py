"""Whether the classes differ in something they should not differ in: run order, prompt length, balance.

A class that ran earlier or had longer prompts could be cut more for that reason alone. Each check is exact,
two-sided, unadjusted, and no verdict depends on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sealbench.analysis.quantities import p_number
from sealbench.analysis.rows import InstanceScores, Table, by_stratum
from sealbench.formats.report import Check
from sealbench.formats.run import LogLine
from sealbench.stats.permutation import rank_sum

_ALARM = Fraction(1, 100)  # with dozens of checks, 1 in 20 would cry wolf in most reports


def checks(
    table: Table, pairs: Mapping[str, Sequence[tuple[str, str]]], *, time_limit: int
) -> tuple[Check, ...]:
    """All checks: family by family the balance, then per endpoint run order and prompt length.

    Parameters
    ----------
    pairs : family -> the pairs of classes that the report compares.
    time_limit : seconds of work for each test.
    """
    found: list[Check] = []
    for family in table.families:
        found.append(_balance(table, family))
        for endpoint in table.run.endpoints:
            lines = [line for line in table.lines if line.family == family and line.endpoint == endpoint.name]
            for pair in pairs[family]:
                found.extend(_of_pair(lines, family, endpoint.name, pair, time_limit))
    return tuple(found)


def _of_pair(
    lines: Sequence[LogLine], family: str, endpoint: str, pair: tuple[str, str], time_limit: int
) -> Iterator[Check]:
    yield _rank_check("run_order", _start_ranks(lines), lines, family, endpoint, pair, time_limit)
    tokens = {line.seq: line.prompt_tokens for line in lines if line.prompt_tokens is not None}
    yield _rank_check("prompt_tokens", tokens, lines, family, endpoint, pair, time_limit)


def _start_ranks(lines: Sequence[LogLine]) -> dict[int, int]:
    """Log line -> its rank by the start of its first attempt (the order of completion has costs in it)."""
    started = sorted((line.attempts[0].at, line.seq) for line in lines if line.attempts)
    return {seq: rank for rank, (_, seq) in enumerate(started)}


def _rank_check(
    check: str,
    values: Mapping[int, int],
    lines: Sequence[LogLine],
    family: str,
    endpoint: str,
    pair: tuple[str, str],
    time_limit: int,
) -> Check:
    """Exact rank-sum test of one number per instance (its mean over wordings, caps and repeats) by class.

    Token counts depend on the wording and calls lost on the class, so strata are as in every test.
    """
    grouped: dict[str, list[LogLine]] = defaultdict(list)
    for line in lines:
        if line.seq in values:
            grouped[line.instance].append(line)
    scores = []
    for instance, own in sorted(grouped.items()):
        pattern = Counter((line.wording, line.cap) for line in own)
        stratum = (own[0].family, own[0].stratum, str(sorted(pattern.items())))
        scores.append(
            InstanceScores(instance, own[0].class_label, stratum, tuple(values[line.seq] for line in own))
        )
    strata = by_stratum(scores, *pair)
    where = {"family": family}
    if not any(first and second for first, second in strata):
        detail = f"{pair[0]} against {pair[1]}: nothing to compare"
        return Check.model_validate(_fields(check, where, endpoint, None, "not_testable", detail))
    means = [([s.mean for s in first], [s.mean for s in second]) for first, second in strata]
    result = rank_sum(strata=means, alternative="two-sided", time_limit=time_limit)
    p = result.p_value
    status = "confounded" if p.conservative <= _ALARM else "ok"
    detail = f"{pair[0]} against {pair[1]}: {_WORDS[check][status == 'ok']} (p {p.text()})"
    return Check.model_validate(_fields(check, where, endpoint, p_number(p), status, detail))


_WORDS = {
    "run_order": ("class and run order are confounded", "no sign that class and run order go together"),
    "prompt_tokens": (
        "class and prompt length are confounded",
        "no sign that class and prompt length go together",
    ),
}


def _balance(table: Table, family: str) -> Check:
    """How many instances each class has in each stratum, and of which kinds."""
    instances = {line.instance: line for line in table.items.values() if line.family == family}
    classes = Counter(line.class_label for line in instances.values())
    strata = Counter((line.stratum, line.class_label) for line in instances.values())
    labels = sorted(classes)
    shares = {tuple(strata[(stratum, label)] for label in labels) for stratum, _ in strata}
    even = all(len(set(counts)) == 1 for counts in shares)
    kinds = Counter((line.class_label, line.kind) for line in instances.values())
    listed = ", ".join(f"{count} {label}" for label, count in sorted(classes.items()))
    of_kind = ", ".join(f"{label}/{kind} {count}" for (label, kind), count in sorted(kinds.items()))
    names = len({line.stratum for line in instances.values()})
    detail = f"{listed} in {names} {'stratum' if names == 1 else 'strata'}"
    detail += "" if even else ", unequal within strata (the tests condition on them)"
    return Check.model_validate(
        _fields("balance", {"family": family}, None, None, "ok", f"{detail}; kinds: {of_kind}")
    )


def _fields(
    check: str, where: dict[str, str], endpoint: str | None, p: object, status: str, detail: str
) -> dict[str, object]:
    return {"check": check, "where": where, "endpoint": endpoint, "p": p, "status": status, "detail": detail}
