"""The leak report: what baselines score that use only what a reader sees without searching.

A baseline looks at one visible feature of a problem (parity, last digit, divisibility, length, size,
how the target compares with the list) and guesses the class. Each has an exact p-value for "this feature
tells nothing": Fisher's two-sided test (tables no more probable than the one seen), or for constant
answers the binomial tail. Holm's adjustment runs over all baselines, pooled and for each kind.

It is judged on a throwaway draw with the same parameters, never on a sealed battery: redrawing that until
it passes would be grinding. Everything is computed in integers with math.comb.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Protocol

from sealbench import stats
from sealbench.crypto.canonical import encode
from sealbench.crypto.stream import Stream
from sealbench.errors import UsageError
from sealbench.formats.battery import Baseline as Published
from sealbench.formats.battery import Item
from sealbench.tasks.base import Instance, Json, Slot, TaskFamily

THROWAWAY_ITEMS = 10_000
REFUSED_AT = Fraction(1, 100)
_STREAM_LABEL = "sealbench/v1/leak-check"
_REDRAWS = 200


class Judged(Protocol):
    """What a baseline may look at: an instance or an item."""

    @property
    def class_label(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def params(self) -> Mapping[str, Json]: ...


@dataclass(frozen=True)
class Baseline:
    """One baseline: `right` of `total` guessed right, its exact p-value and Holm's adjusted one."""

    name: str
    kind: str  # "" where all kinds are pooled
    right: int
    total: int
    p: Fraction
    p_adjusted: Fraction

    @property
    def score(self) -> Fraction:
        """The share guessed right."""
        return Fraction(self.right, self.total)


@dataclass(frozen=True)
class LeakReport:
    """All baselines of one set of instances, the most telling first."""

    instances: int
    baselines: tuple[Baseline, ...]

    @property
    def leaks(self) -> tuple[Baseline, ...]:
        """The baselines whose adjusted p is at most 1/100: parameters with any are refused."""
        return tuple(baseline for baseline in self.baselines if baseline.p_adjusted <= REFUSED_AT)


def judge_parameters(
    family: TaskFamily, parameters: Mapping[str, Json], *, on_instance: Callable[[], None] | None = None
) -> LeakReport:
    """The leak report of a throwaway draw; computed once per process, for it is the same every time."""
    key = (family.name, family.version, encode(dict(parameters)))
    if key not in _judged:
        _judged[key] = leak_report(throwaway_draw(family, parameters, on_instance=on_instance))
    return _judged[key]


_judged: dict[tuple[str, int, bytes], LeakReport] = {}


def throwaway_draw(
    family: TaskFamily,
    parameters: Mapping[str, Json],
    *,
    items: int = THROWAWAY_ITEMS,
    on_instance: Callable[[], None] | None = None,
) -> list[Instance]:
    """About `items` different instances with these parameters, from a public stream of their own.

    Where the ranges hold fewer, as many as fit. The draw is the same every time, so nobody can redraw it
    until it passes. `on_instance` is called after each, for progress. Certificates may be missing.
    """
    slots = family.slots(parameters, 1)
    per_class = max(1, items // len(slots))
    while True:
        try:
            slots = family.slots(parameters, per_class)
            break
        except UsageError:
            if per_class == 1:
                raise
            per_class = max(1, per_class * 3 // 4)
    # A family may offer `sketch`, a generate() that leaves out a costly certificate.
    draw: Callable[[Slot, Mapping[str, Json], Stream], Instance] = getattr(family, "sketch", family.generate)
    drawn: list[Instance] = []
    seen: set[bytes] = set()
    for index, slot in enumerate(slots):
        stream = Stream(_STREAM_LABEL, family.name, family.version, encode(dict(parameters)), index)
        for _ in range(_REDRAWS):
            instance = draw(slot, parameters, stream)
            identity = encode(instance.params)
            if identity not in seen:
                seen.add(identity)
                drawn.append(instance)
                break
        if on_instance is not None:
            on_instance()
    return _balanced(drawn)


def _balanced(instances: Sequence[Instance]) -> list[Instance]:
    """As many of each class in every kind and stratum as the rarest class has there.

    A class that ran out of different instances would otherwise look like a leak of constant answers.
    """
    groups: dict[tuple[str, str], dict[str, list[Instance]]] = {}
    for instance in instances:
        group = groups.setdefault((instance.kind, instance.stratum), {})
        group.setdefault(instance.class_label, []).append(instance)
    kept: list[Instance] = []
    for group in groups.values():
        smallest = min(len(members) for members in group.values())
        kept += [instance for members in group.values() for instance in members[:smallest]]
    return kept


def leak_report(instances: Sequence[Judged], prompts: Sequence[str] | None = None) -> LeakReport:
    """Judge every baseline on these instances; `prompts` (one each, same order) adds the prompt's length."""
    if not instances:
        raise UsageError("there are no instances to judge", hint="draw at least one for each class")
    tests = list(_tests(instances, prompts, ""))
    kinds = sorted({instance.kind for instance in instances})
    if len(kinds) > 1:
        for kind in kinds:
            chosen = [place for place, instance in enumerate(instances) if instance.kind == kind]
            texts = [prompts[place] for place in chosen] if prompts is not None else None
            tests += _tests([instances[place] for place in chosen], texts, kind)
    adjusted = stats.holm({place: test.p for place, test in enumerate(tests)})
    baselines = [
        Baseline(test.name, test.kind, test.right, test.total, test.p, adjusted[place])
        for place, test in enumerate(tests)
    ]
    return LeakReport(len(instances), tuple(sorted(baselines, key=lambda one: (one.p, one.kind, one.name))))


def own_baselines(items: Sequence[Item]) -> tuple[Published, ...]:
    """What each baseline scores on a battery's own items, for its commitment: published, never judged.

    One entry per family and baseline, instances counted once, accuracy to four decimals.
    """
    found: list[Published] = []
    for family in sorted({item.family for item in items}):
        first = {item.instance: item for item in items if item.family == family}
        judged = [first[key] for key in sorted(first)]
        prompts = [item.prompt for item in judged]
        found += [
            Published(
                family=family,
                baseline=_label(guess.name),
                accuracy=_four_decimals(Fraction(guess.right, guess.total)),
            )
            for guess in _guesses(judged, prompts)
        ]
    return tuple(found)


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:64]


def _four_decimals(value: Fraction) -> str:
    scaled = round(value * 10_000)
    return f"{scaled // 10_000}.{scaled % 10_000:04d}"


def binomial_at_least(right: int, total: int, classes: int) -> Fraction:
    """The chance of at least `right` of `total` by guessing among `classes` equally likely ones."""
    tail = 0
    weight = 1  # comb(total, total) * (classes - 1)^0
    for count in range(total, right - 1, -1):
        tail += weight
        weight = weight * count * (classes - 1) // (total - count + 1)
    return Fraction(tail, classes**total)


@dataclass(frozen=True)
class _Guess:
    """What one baseline scores; `table` [[a, n], [c, n]] is its feature by class, None for constants."""

    name: str
    right: int
    total: int
    table: tuple[tuple[int, int], tuple[int, int]] | None
    classes: int

    def p(self) -> Fraction:
        """Exact p of "this tells nothing"."""
        if self.table is None:
            return binomial_at_least(self.right, self.total, self.classes)
        rows = [list(row) for row in self.table]
        return Fraction(stats.fisher_exact(rows, two_sided="likelihood", level=None).p)


@dataclass(frozen=True)
class _Test:
    name: str
    kind: str
    right: int
    total: int
    p: Fraction


def _tests(instances: Sequence[Judged], prompts: Sequence[str] | None, kind: str) -> Iterator[_Test]:
    for guess in _guesses(instances, prompts):
        yield _Test(guess.name, kind, guess.right, guess.total, guess.p())


def _guesses(instances: Sequence[Judged], prompts: Sequence[str] | None) -> Iterator[_Guess]:
    labels = [instance.class_label for instance in instances]
    classes = sorted(set(labels))
    for label in classes:
        yield _Guess(f"always {label}", labels.count(label), len(labels), None, max(2, len(classes)))
    # Sorted as in a published file, so that a verifier meets the same features in the same order.
    features = _features([dict(sorted(instance.params.items())) for instance in instances])
    if prompts is not None:
        features["prompt length"] = _split([len(prompt) for prompt in prompts])
    # With two classes one against the other is the whole question.
    for label in classes if len(classes) > 2 else classes[:1]:
        inside = [one == label for one in labels]
        for name, values in features.items():
            a = sum(1 for value, within in zip(values, inside, strict=True) if value and within)
            b, c = sum(values) - a, sum(inside) - a
            d = len(values) - a - b - c
            if a + b == 0 or c + d == 0 or a + c == 0 or b + d == 0:
                continue  # the feature or the class never varies: nothing to tell
            suffix = f" ({label} or not)" if len(classes) > 2 else ""
            table = ((a, a + b), (c, c + d))
            yield _Guess(name + suffix, max(a + d, b + c), len(values), table, len(classes))


def _features(problems: Sequence[Mapping[str, Json]]) -> dict[str, list[bool]]:
    """Visible yes/no features of all problems, by name, from whatever numbers and lists they hold."""
    features: dict[str, list[bool]] = {}
    keys = [key for key in problems[0] if all(key in problem for problem in problems)]
    scalars = {key: values for key in keys if (values := _scalars(problems, key)) is not None}
    lists = {key: found for key in keys if (found := _lists(problems, key)) is not None}
    for key, numbers in scalars.items():
        features |= _scalar_features(key, numbers)
    for key, rows in lists.items():
        features |= _list_features(key, rows)
        for other, numbers in scalars.items():
            features |= _pair_features(other, numbers, key, rows)
    return features


def _scalars(problems: Sequence[Mapping[str, Json]], key: str) -> list[int] | None:
    found = [_number(problem[key]) for problem in problems]
    numbers = [number for number in found if number is not None]
    return numbers if len(numbers) == len(found) else None


def _number(value: Json) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 4000:
        return int(value)
    return None


def _lists(problems: Sequence[Mapping[str, Json]], key: str) -> list[list[int]] | None:
    rows = [_flat(problem[key]) if isinstance(problem[key], list) else [] for problem in problems]
    return rows if all(rows) else None


def _flat(value: Json) -> list[int]:
    """All integers in nested lists."""
    if isinstance(value, list):
        return [number for entry in value for number in _flat(entry)]
    number = _number(value)
    return [] if number is None else [number]


def _split(values: Sequence[int]) -> list[bool]:
    """Whether each value lies above the median, or at it where nothing lies above."""
    median = sorted(values)[(len(values) - 1) // 2]
    above = [value > median for value in values]
    return above if any(above) else [value == median for value in values]


def _scalar_features(key: str, numbers: Sequence[int]) -> dict[str, list[bool]]:
    features = {
        f"{key} odd": [number % 2 == 1 for number in numbers],
        f"{key} divisible by 3": [number % 3 == 0 for number in numbers],
        f"{key} divisible by 5": [number % 5 == 0 for number in numbers],
        f"{key} large": _split(numbers),
        f"{key} long": _split([len(str(abs(number))) for number in numbers]),
        f"{key} first digit large": _split([int(str(abs(number))[0]) for number in numbers]),
    }
    for digit in range(10):
        features[f"{key} ends in {digit}"] = [abs(number) % 10 == digit for number in numbers]
    return features


def _list_features(key: str, rows: Sequence[Sequence[int]]) -> dict[str, list[bool]]:
    return {
        f"{key} many": _split([len(row) for row in rows]),
        f"{key} sum odd": [sum(row) % 2 == 1 for row in rows],
        f"{key} sum large": _split([sum(row) for row in rows]),
        f"{key} smallest large": _split([min(row) for row in rows]),
        f"{key} largest large": _split([max(row) for row in rows]),
        f"{key} spread large": _split([max(row) - min(row) for row in rows]),
        f"{key} many odd": _split([sum(number % 2 for number in row) for row in rows]),
        f"{key} many negative": _split([sum(number < 0 for number in row) for row in rows]),
        f"{key} first large": _split([row[0] for row in rows]),
        f"{key} last large": _split([row[-1] for row in rows]),
    }


def _pair_features(
    name: str, numbers: Sequence[int], key: str, rows: Sequence[Sequence[int]]
) -> dict[str, list[bool]]:
    """How a number stands to a list: by size against its mean, and by the parity of most of its pairs."""
    pairs = list(zip(numbers, rows, strict=True))
    sizes = [1000 * number * len(row) // max(1, abs(sum(row))) for number, row in pairs]
    fits = []
    for number, row in pairs:
        odd = sum(value % 2 for value in row)
        mostly_odd = 2 * odd * (len(row) - odd) > comb(len(row), 2)
        fits.append(mostly_odd == (number % 2 == 1))
    middle = sorted(sizes)[(len(sizes) - 1) // 2]
    return {
        f"{name} large for {key}": _split(sizes),
        f"{name} far from {key}": _split([abs(size - middle) for size in sizes]),
        f"{name} parity of most pairs of {key}": fits,
    }
