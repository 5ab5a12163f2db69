"""Small runs, logs and plans made by rule: no randomness, no clock, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sealbench.crypto.digest import sha256_hex
from sealbench.formats.base import FileHash, format_instant
from sealbench.formats.preregistration import Endpoint, Hypothesis, Preregistration, VoidCondition
from sealbench.formats.run import LogLine, Run

IDENTITY = {
    "author": "SHA256:" + "A" * 43,
    "registry": "1" * 64,
    "registry_size": 3,
    "registry_head": "2" * 64,
}
SOLVER, CONSTANT = "reference/solver", "reference/constant"
CLASSES = {"primality": ("prime", "composite"), "subset_sum": ("no", "yes")}
_START = datetime(2026, 11, 30, 12, tzinfo=UTC)

Cost = Callable[[str, str, str, int, int], int]  # family, class, endpoint, instance number, repeat -> tokens


def endpoint(name: str, **changes: Any) -> Endpoint:
    """An endpoint; `reference/…` names are reference endpoints."""
    provider, _, model = name.partition("/")
    fields = {
        "name": name,
        "provider": provider,
        "model": model,
        "base_url": None,
        "api_key_env": None,
        "cap_parameter": "max_tokens",
        "settings": {"temperature": 0},
        "probed": True,
    }
    return Endpoint.model_validate(fields | changes)


def hypothesis(id: str = "H1", **changes: Any) -> Hypothesis:
    """Primes are cut more often at cap 300, unless told otherwise."""
    fields = {
        "id": id,
        "measure": "censored",
        "where": {"family": "primality"},
        "cap": 300,
        "class1": "prime",
        "class0": "composite",
        "direction": "greater",
        "test": "exact_permutation",
        "alpha": "0.05",
        "bound": None,
        "falsifies": (),
    }
    return Hypothesis.model_validate(fields | changes)


def void_condition(id: str = "V1", **changes: Any) -> VoidCondition:
    """Void if nothing is cut in subset_sum at cap 300."""
    fields = {
        "id": id,
        "condition": "nothing_censored",
        "where": {"family": "subset_sum"},
        "cap": 300,
        "voids": ("H1",),
    }
    return VoidCondition.model_validate(fields | changes)


def plan(
    hypotheses: Iterable[Hypothesis] = (), endpoints: Sequence[str] = (SOLVER,), **changes: Any
) -> Preregistration:
    """A plan for caps 300 and 4000, one repeat, one wording."""
    fields = {
        **IDENTITY,
        "name": "plan1",
        "created_at": "2026-11-30T10:00:00Z",
        "tool_version": "0.1.0",
        "battery": "demo",
        "commitment": FileHash(path="commitments/demo.json", sha256="3" * 64),
        "amends": None,
        "endpoints": tuple(endpoint(name) for name in endpoints),
        "caps": (300, 4000),
        "repeats": 1,
        "wordings": ("plain",),
        "parser": {"name": "sealbench-answers", "version": 1},
        "stopping_rule": "all planned calls",
        "exclusions": (),
        "hypotheses": tuple(hypotheses),
        "void_conditions": (),
        "alpha": "0.05",
        "correction": "holm",
        "equivalence_margins": (),
        "access": ("the author",),
        "funding": "none",
        "reveal": {"condition": "after the report", "deadline": "2027-11-30T00:00:00Z"},
    }
    return Preregistration.model_validate(fields | changes)


def run_of(registered: Preregistration | None, lines: int = 0, **changes: Any) -> Run:
    """run.json of a plan, or of an exploratory run with the same settings."""
    source = registered or plan()
    path = f"preregistrations/{source.name}.json"
    fields = {
        **IDENTITY,
        "name": "run1",
        "number": 1,
        "exploratory": registered is None,
        "battery": source.battery,
        "commitment": source.commitment,
        "plan": FileHash(path=path, sha256=registered.digest()) if registered else None,
        "require": "confirmed" if registered else "nothing",
        "tool_version": "0.1.0",
        "started_at": "2026-11-30T12:00:00Z",
        "block": {"height": 900000, "hash": "0" * 64},
        "endpoints": source.endpoints,
        "caps": source.caps,
        "repeats": source.repeats,
        "wordings": source.wordings,
        "parser": source.parser,
        "planned_calls": lines,
    }
    return Run.model_validate(fields | changes)


def solver_cost(family: str, label: str, endpoint: str, number: int, repeat: int) -> int:
    """Tokens as the reference endpoints need them: the exhaustive class is dear, the constant one flat."""
    if endpoint == CONSTANT:
        return 40
    dear = label in ("prime", "no")
    return (600 if dear else 60) + 13 * number


def line(**fields: Any) -> dict[str, Any]:
    """One log line's fields, finished and right unless told otherwise."""
    base = {
        "item": "0" * 16,
        "instance": "0" * 16,
        "family": "primality",
        "class_label": "prime",
        "kind": "plain",
        "stratum": "one",
        "search": "exhaustive",
        "wording": "plain",
        "category": "math",
        "endpoint": SOLVER,
        "model": None,
        "cap": 300,
        "cap_parameter": "max_tokens",
        "repeat": 0,
        "end": "finished",
        "answer": "right",
        "stop": "stop",
        "at_cap": False,
        "not_binding": False,
        "charged_tokens": 100,
        "visible_tokens": 100,
        "reasoning_tokens": None,
        "prompt_tokens": 20,
        "visible_characters": 300,
        "characters_without_markdown": 300,
        "minimal_characters": 3,
        "first_line_tokens": 3,
        "longest_step": 5,
        "mean_logprob": None,
        "parsed": "yes",
        "response_id_hash": None,
        "body_hash": None,
        "fingerprint": None,
    }
    return base | fields


def cut(fields: dict[str, Any]) -> dict[str, Any]:
    """The same call, cut at its cap with nothing visible."""
    return fields | {
        "end": "cut_reported",
        "answer": "empty",
        "stop": "length",
        "charged_tokens": fields["cap"],
    }


def failed(fields: dict[str, Any]) -> dict[str, Any]:
    """The same call, missing after all attempts."""
    return fields | {
        "end": "error",
        "answer": "empty",
        "stop": None,
        "charged_tokens": None,
        "prompt_tokens": None,
    }


def identifier(*parts: object) -> str:
    """16 hex digits that depend on the parts."""
    return sha256_hex(repr(parts).encode())[:16]


def calls(
    source: Run | Preregistration,
    *,
    per_class: int = 8,
    families: Mapping[str, tuple[str, ...]] | None = None,
    cost: Cost = solver_cost,
    strata: int = 1,
) -> list[dict[str, Any]]:
    """Every planned call's fields: cut where the cost exceeds the cap, else right; classes alternate."""
    found = []
    for cap in source.caps:
        for repeat in range(source.repeats):
            for number in range(per_class):
                for family, labels in (families or CLASSES).items():
                    for label in labels:
                        instance = identifier(family, label, number)
                        for wording in source.wordings:
                            for known in source.endpoints:
                                tokens = cost(family, label, known.name, number, repeat)
                                fields = line(
                                    item=identifier(instance, wording),
                                    instance=instance,
                                    family=family,
                                    class_label=label,
                                    stratum=f"s{number % strata}",
                                    wording=wording,
                                    endpoint=known.name,
                                    model=known.model,
                                    cap=cap,
                                    cap_parameter=known.cap_parameter,
                                    repeat=repeat,
                                    charged_tokens=tokens,
                                )
                                found.append(cut(fields) if tokens > cap else fields)
    return found


def attempt(number: int, outcome: str = "answered") -> dict[str, Any]:
    """One HTTP attempt, a second after the one before."""
    at = format_instant(_START + timedelta(seconds=number), microseconds=True)
    return {"at": at, "ended_at": at, "status": 200 if outcome == "answered" else None, "outcome": outcome}


def log(run: Run, fields: Iterable[Mapping[str, Any]]) -> list[LogLine]:
    """The chained lines of a log."""
    lines: list[LogLine] = []
    previous = run.digest()
    for number, own in enumerate(fields):
        attempts = own.get("attempts", (attempt(number),))
        made = LogLine.model_validate({**own, "seq": number, "prev": previous, "attempts": attempts})
        lines.append(made)
        previous = made.digest()
    return lines


def world(
    registered: Preregistration | None,
    change: Callable[[dict[str, Any]], dict[str, Any] | None] = dict,
    **options: Any,
) -> tuple[Run, list[LogLine]]:
    """A run of this plan with its log; `change` alters each call, or leaves it out with None."""
    planned = calls(registered or plan(), **options)
    run = run_of(registered, len(planned))
    kept = [changed for fields in planned if (changed := change(fields)) is not None]
    return run, log(run, kept)
