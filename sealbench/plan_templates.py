"""Commented plans for a person to read and change, filled in for the battery at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sealbench.errors import UsageError
from sealbench.formats.battery import Item

TEMPLATES = ("two-class",)

_HEAD = """\
# A plan for battery {battery}. Read every line, change what is not what you mean, then freeze it:
#     seal preregister {battery} --plan {plan} --from {plan}.toml
# After that it cannot be changed, only amended in the open.

battery = "{battery}"

# Which endpoints are called (seal run --endpoint takes the same names).
endpoints = {endpoints}

# Most tokens a response may use. The last should be high enough that nothing is cut.
caps = {caps}

# How often each item is asked at each cap. Repeats are not independent: the unit stays the instance.
repeats = 1
wordings = {wordings}

# When data collection ends, and which responses would be left out (none, if the list is empty).
stopping_rule = "every planned call once; no look at results before all are done"
exclusions = []

# Level of the family of registered tests, and how it is kept (holm or none).
alpha = "0.05"
correction = "holm"

# Who has seen the items, and who pays.
access = ["the author"]
funding = "none"

# When the secret key will be published, so that everybody can check everything.
[reveal]
condition = "when the report is published"
deadline = "{deadline}"

# Hypotheses are data. direction "greater" says that class1 is cut more often, or costs more,
# than class0. Measures: censored, lost (cut without a final answer), charged_tokens,
# reasoning_tokens, accuracy, error.
"""

_HYPOTHESIS = """
[[hypotheses]]
id = "{id}"
measure = "{measure}"
where = {{ family = "{family}", endpoint = "{endpoint}" }}
cap = {cap}
class1 = "{class1}"
class0 = "{class0}"
direction = "greater"
"""

_VOID = """
# If not one response of {endpoint} was cut here, the battery was too easy to say anything about cuts.
[[void_conditions]]
id = "{id}"
condition = "nothing_censored"
where = {{ family = "{family}", endpoint = "{endpoint}" }}
cap = {cap}
voids = {voids}
"""


@dataclass(frozen=True)
class Contrast:
    """The two classes of a family: the one that needs the whole search, and the one that does not."""

    family: str
    exhaustive: str
    witness: str


def contrasts(items: Sequence[Item]) -> list[Contrast]:
    """One contrast per family that has a searched and a witnessed class, in order of appearance."""
    classes: dict[str, dict[str, str]] = {}
    for item in items:
        classes.setdefault(item.family, {}).setdefault(item.search, item.class_label)
    return [
        Contrast(family, found["exhaustive"], found["witness"])
        for family, found in sorted(classes.items())
        if {"exhaustive", "witness"} <= set(found)
    ]


def fill(
    template: str,
    *,
    battery: str,
    plan: str,
    items: Sequence[Item],
    endpoints: Sequence[str],
    caps: Sequence[int],
    wordings: Sequence[str],
    deadline: str,
) -> str:
    """The text of `PLAN.toml`.

    Raises
    ------
    UsageError : no such template.
    """
    if template not in TEMPLATES:
        raise UsageError(f"no template {template}", hint=f"--template {TEMPLATES[0]}")
    parts = [
        _HEAD.format(
            battery=battery,
            plan=plan,
            endpoints=_strings(endpoints),
            caps=list(caps),
            wordings=_strings(wordings),
            deadline=deadline,
        )
    ]
    number = 0
    voids: list[str] = []
    for contrast in contrasts(items):
        for endpoint in endpoints:
            ids = []
            for measure, cap in (
                ("censored", min(caps)),
                ("lost", min(caps)),
                ("charged_tokens", max(caps)),
            ):
                number += 1
                ids.append(f"H{number}")
                parts.append(
                    _HYPOTHESIS.format(
                        id=ids[-1],
                        measure=measure,
                        family=contrast.family,
                        endpoint=endpoint,
                        cap=cap,
                        class1=contrast.exhaustive,
                        class0=contrast.witness,
                    )
                )
            voids.append(
                _VOID.format(
                    id=f"V{len(voids) + 1}",
                    family=contrast.family,
                    endpoint=endpoint,
                    cap=min(caps),
                    voids=_strings(ids[:2]),
                )
            )
    return "".join(parts + voids)


def _strings(values: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"
