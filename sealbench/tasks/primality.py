"""Primality: is this number prime?

Classes: `prime` (needs the whole search) and `composite` (one factor ends it). Kinds of composites:
`small_factor` (least factor in a range), `semiprime` (two primes, the larger less than 3/2 times the
smaller: the search is nearly as long as a prime's) and `carmichael`. Each kind has its own equally many
primes, drawn in the same way, so that kind and stratum always hold both classes in balance.

Matched sampling (the default): a window of the size range and a residue mod 30 coprime to 30 are drawn
first, the same way for both classes, and only then a number of the wanted class in that window and
residue. So size, last digit and divisibility by 2, 3 and 5 have the same distribution in both classes.
Carmichael numbers are too rare for that: there the prime takes size and residue from a Carmichael number
drawn for it. Natural sampling draws from all numbers of that many digits, so that parity alone tells much:
it is there to show what matching removes, and is refused as a leak unless leaks are allowed.

Prompts: `Is 123457 a prime number?` (plain), `Is 123457 a composite number?` (inverted), `Is 123457 prime
or composite?` (labels, letters), then the line that asks for the answer. n is written in plain digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isqrt

from sealbench.crypto.stream import Stream
from sealbench.errors import CertificateFailed
from sealbench.tasks.base import Instance, Json, Rendered, Search, Slot
from sealbench.tasks.parameters import Given, integers_of, require_per_class, require_room, words_of
from sealbench.tasks.wordings import WORDINGS, Question, render_question

KINDS = ("small_factor", "semiprime", "carmichael")
SAMPLINGS = ("matched", "natural")
LARGEST_LEAST_FACTOR = 10_000


@dataclass(frozen=True)
class Primality:
    """The family object; its parameters are digits, composite, least_factor and sampling."""

    name: str = "primality"
    version: int = 1
    summary: str = "is this number prime? a prime needs the whole search, a composite one factor"
    classes: tuple[str, ...] = ("prime", "composite")
    wordings: tuple[str, ...] = WORDINGS
    sources: tuple[str, ...] = (
        "sealbench.tasks.primality",
        "sealbench.tasks.primality_draws",
        "sealbench.tasks.arithmetic",
        "sealbench.tasks.carmichael",
        "sealbench.tasks.wordings",
        "sealbench.crypto.stream",
    )

    def complete(self, given: Mapping[str, str]) -> dict[str, Json]:
        """Digits (3 to 40, several allowed), composite kinds, range of the least factor, sampling."""
        reader = Given(self.name, given, ("digits", "composite", "least_factor", "sampling"))
        sampling = reader.choice("sampling", "matched", SAMPLINGS)
        kinds = reader.choices("composite", "small_factor", KINDS)
        digits = reader.integers("digits", 6, 3, 40)
        if "carmichael" in kinds and digits[0] < 4:
            raise reader.error("digits", "must be 4 or more with composite=carmichael", "6")
        lowest = 7 if sampling == "matched" else 2
        largest = min(47, isqrt(10 ** digits[0] - 1))
        low, high = reader.span("least_factor", (lowest, largest), lowest, LARGEST_LEAST_FACTOR)
        if "small_factor" in kinds:
            self._check_least_factor(reader, low, high, digits[0])
        return {
            "digits": list(digits),
            "composite": list(kinds),
            "least_factor": [low, high],
            "sampling": sampling,
        }

    @staticmethod
    def _check_least_factor(reader: Given, low: int, high: int, digits: int) -> None:
        from sealbench.tasks.arithmetic import is_prime

        if not any(is_prime(value) for value in range(low, high + 1)):
            raise reader.error("least_factor", "holds no prime", "7..23")
        if high * high >= 10**digits:
            largest = isqrt(10**digits - 1)
            raise reader.error(
                "least_factor",
                f"must end at {largest} or below for {digits} digits",
                f"7..{min(47, largest)}",
            )

    def slots(self, parameters: Mapping[str, Json], per_class: int) -> list[Slot]:
        """`per_class` slots for each class, kind and number of digits."""
        from sealbench.tasks.primality_draws import room

        require_per_class(self.name, per_class)
        kinds = words_of(parameters, "composite")
        slots: list[Slot] = []
        counted: dict[tuple[str, str], int] = {}
        for digits in integers_of(parameters, "digits"):
            for kind in kinds:
                stratum = f"digits_{digits}" if len(kinds) == 1 else f"digits_{digits}_{kind}"
                counted["composite", stratum] = room(kind, digits, parameters)
                # All kinds take their primes from the same numbers.
                counted["prime", stratum] = room("prime", digits, parameters) // len(kinds)
                slots += [Slot(label, kind, stratum) for label in self.classes for _ in range(per_class)]
        require_room(self.name, slots, counted, "take more digits, for example -p primality.digits=9")
        return slots

    def generate(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """A prime with its Pratt certificate, or a composite with two factors."""
        from sealbench.tasks.arithmetic import pratt_certificate

        while True:
            drawn = self.sketch(slot, parameters, stream)
            if slot.class_label == "composite":
                return drawn
            # Beyond 3.3e24 only the certificate proves the prime; a number without one is drawn again.
            certificate = pratt_certificate(int(str(drawn.params["n"])))
            if certificate is not None:
                return replace(drawn, certificate=certificate)

    def sketch(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """The same without the Pratt certificate, which is what takes long: for the leak report."""
        from sealbench.tasks.arithmetic import factor_certificate, pack
        from sealbench.tasks.primality_draws import draw_composite, draw_prime

        digits = int(slot.stratum.split("_")[1])
        certificate: dict[str, Json] = {}
        search: Search = "exhaustive"
        if slot.class_label == "composite":
            number, factor = draw_composite(slot.kind, digits, parameters, stream)
            certificate = factor_certificate(factor, number // factor)
            search = "witness"
        else:
            number = draw_prime(slot.kind, digits, parameters, stream)
        params: dict[str, Json] = {"n": pack(number)}
        return Instance(slot.class_label, slot.kind, slot.stratum, search, params, certificate)

    def render(self, instance: Instance, wording: str, stream: Stream) -> Rendered:
        """The question about n, in one of the four wordings."""
        number = instance.params["n"]
        question = Question(
            plain=f"Is {number} a prime number?",
            inverted=f"Is {number} a composite number?",
            either=f"Is {number} prime or composite?",
            data="",
            yes="prime",
            words={"prime": "prime", "composite": "composite"},
        )
        return render_question(question, instance.class_label, wording, stream, self.name)

    def check(self, params: Mapping[str, Json], class_label: str, certificate: Mapping[str, Json]) -> None:
        """Check a Pratt chain or a pair of factors by arithmetic alone."""
        from sealbench.tasks.certificates import check_composite, check_prime, read_integer, require_keys

        require_keys(params, ("n",), "params")
        number = read_integer(params["n"], "n")
        if class_label == "prime":
            check_prime(number, certificate)
        elif class_label == "composite":
            check_composite(number, certificate)
        else:
            raise CertificateFailed(
                f"primality has no class '{class_label}'", hint="its classes are prime and composite"
            )


FAMILY = Primality()
