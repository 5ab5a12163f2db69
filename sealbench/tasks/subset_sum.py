"""Subset-sum: do k numbers of this list add up to the target?

Classes: `no` (needs all subsets) and `yes` (the first fitting subset ends the search). The index of that
first subset, in the order (1,2), (1,3), …, (2,3), … of positions, lies in the range `witness`.

Both classes are built alike. The target is drawn first, as a sum of k numbers of the range. Then k numbers
at some place of the list are planted: in `yes` they add up to the target, in `no` they miss it by a
multiple of `step` (so that parity, last digit and size fit alike). Another k numbers are planted as a
near miss in both. A list counts only if its number of near misses (sums within `near` of the target)
equals that of a third list, drawn without regard to class: near misses are matched exactly.

Prompts (plain): `Do any two of the numbers below add up to exactly 612?`, then the lines
`Numbers: 101, 250, …` and `Target: 612`, then the line that asks for the answer. `three`, `four` and
`five` for larger k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, pi, sqrt

from sealbench.crypto.stream import Stream
from sealbench.errors import CertificateFailed, UsageError
from sealbench.tasks.base import Instance, Json, Rendered, Slot
from sealbench.tasks.parameters import Given, integer_of, integers_of, require_per_class
from sealbench.tasks.wordings import WORDINGS, Question, render_question

KIND = "planted"
LARGEST_VALUE = 10**12
LARGEST_LIST = 200
MOST_SUBSETS = 200_000
_MOST_EXPECTED_HITS = 3.0
_COUNT_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True)
class SubsetSum:
    """The family object; its parameters are k, length, values, witness and (derived) near and step."""

    name: str = "subset_sum"
    version: int = 1
    summary: str = "do k numbers of a list add up to a target? no needs all subsets, yes one"
    classes: tuple[str, ...] = ("no", "yes")
    wordings: tuple[str, ...] = WORDINGS
    sources: tuple[str, ...] = (
        "sealbench.tasks.subset_sum",
        "sealbench.tasks.subset_sum_draws",
        "sealbench.tasks.wordings",
        "sealbench.crypto.stream",
    )

    def complete(self, given: Mapping[str, str]) -> dict[str, Json]:
        """Subset size k (2 to 5), list lengths, range of the values, range of the first witness's index."""
        reader = Given(self.name, given, ("k", "length", "values", "witness"))
        k = reader.integer("k", 2, 2, 5)
        lengths = reader.integers("length", 16, 2, LARGEST_LIST)
        if lengths[0] < 2 * k:
            raise reader.error("length", f"must be at least {2 * k}, twice k", "16")
        if comb(lengths[-1], k) > MOST_SUBSETS:
            raise reader.error("length", f"gives more than {MOST_SUBSETS} subsets of {k} numbers", "16")
        low, high = reader.span("values", _default_values(k), 1, LARGEST_VALUE)
        width = high - low + 1
        needed = _narrowest_width(lengths[-1], k)
        if width < needed:
            works = f"{low}..{low + max(needed, 100) - 1}"
            problem = f"is too narrow for lists of {lengths[-1]} numbers of which no {k} reach the target"
            raise reader.error("values", problem, works)
        subsets = comb(lengths[0], k)
        first, last = reader.span("witness", (1, max(1, subsets // 4)), 1, subsets)
        step = 30 if width >= 240 else 10 if width >= 80 else 2
        near = max(1, min(step - 1, 9, int(1.5 / max(_expected_hits(lengths[-1], k, width), 0.01))))
        return {
            "k": k,
            "length": list(lengths),
            "values": [low, high],
            "witness": [first, last],
            "near": near,
            "step": step,
        }

    def slots(self, parameters: Mapping[str, Json], per_class: int) -> list[Slot]:
        """`per_class` slots for each class and list length."""
        require_per_class(self.name, per_class)
        low, high = integers_of(parameters, "values")
        slots: list[Slot] = []
        for length in integers_of(parameters, "length"):
            if comb(high - low + 1, length) < 1000 * per_class:
                raise UsageError(
                    f"{self.name}: {per_class} different lists of {length} numbers a class wanted, "
                    f"too many for values from {low} to {high}",
                    hint=f"lower --per-class, or widen: -p {self.name}.values={low}..{10 * high}",
                )
            slots += [
                Slot(label, KIND, f"length_{length}") for label in self.classes for _ in range(per_class)
            ]
        return slots

    def generate(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """A list and a target with the witness, or with the argument that there is none."""
        from sealbench.tasks.subset_sum_draws import Shape, draw_list, refutation, witness

        k = integer_of(parameters, "k")
        low, high = integers_of(parameters, "values")
        first, last = integers_of(parameters, "witness")
        length = int(slot.stratum.split("_")[1])
        near, step = integer_of(parameters, "near"), integer_of(parameters, "step")
        shape = Shape(k, length, low, high, first, last, near, step)
        fits = slot.class_label == "yes"
        numbers, target = draw_list(shape, fits, stream)
        return Instance(
            slot.class_label,
            slot.kind,
            slot.stratum,
            "witness" if fits else "exhaustive",
            {"numbers": list(numbers), "target": target, "k": k},
            witness(numbers, target, k) if fits else refutation(numbers, target, k),
        )

    def render(self, instance: Instance, wording: str, stream: Stream) -> Rendered:
        """The question about list and target, in one of the four wordings."""
        params = instance.params
        many = _COUNT_WORDS[integer_of(params, "k")]
        target = integer_of(params, "target")
        numbers = ", ".join(str(number) for number in integers_of(params, "numbers"))
        question = Question(
            plain=f"Do any {many} of the numbers below add up to exactly {target}?",
            inverted=f"Is it true that no {many} of the numbers below add up to exactly {target}?",
            either=f"Is it possible or impossible to pick {many} of the numbers below that add up to "
            f"exactly {target}?",
            data=f"Numbers: {numbers}\nTarget: {target}",
            yes="yes",
            words={"yes": "possible", "no": "impossible"},
        )
        return render_question(question, instance.class_label, wording, stream, self.name)

    def check(self, params: Mapping[str, Json], class_label: str, certificate: Mapping[str, Json]) -> None:
        """Check a witness, a two-pointer sweep or a meet in the middle by arithmetic alone."""
        from sealbench.tasks.certificates import read_integer, read_integers, require_keys
        from sealbench.tasks.subset_sum_certificates import check_refutation, check_witness

        require_keys(params, ("numbers", "target", "k"), "params")
        numbers = read_integers(params["numbers"], "numbers")
        target, k = read_integer(params["target"], "target"), read_integer(params["k"], "k")
        if class_label == "yes":
            check_witness(numbers, target, k, certificate)
        elif class_label == "no":
            check_refutation(numbers, target, k, certificate)
        else:
            raise CertificateFailed(
                f"subset_sum has no class '{class_label}'", hint="its classes are no and yes"
            )


def _default_values(k: int) -> tuple[int, int]:
    """100 to 499 for pairs; wider for larger subsets, of which there are more."""
    return (100, 499) if k == 2 else (100, 999) if k == 3 else (1000, 9999)


def _expected_hits(length: int, k: int, width: int) -> float:
    """How many subsets meet a central target by chance: subsets times the peak density of a sum of k."""
    return comb(length, k) / (sqrt(2 * pi * k / 12) * width)


def _narrowest_width(length: int, k: int) -> int:
    """The width of the value range below which lists without a fitting subset become too rare."""
    by_hits = _expected_hits(length, k, 1) / _MOST_EXPECTED_HITS
    return max(int(by_hits) + 1, 2 * length, 20)


FAMILY = SubsetSum()
