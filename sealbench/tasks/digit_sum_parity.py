"""Digit-sum parity: is the digit sum of this number even? The negative control.

Both answers need every digit, so neither class costs more than the other: an asymmetry found here comes
from something else than search. Numbers are uniform; no digit alone tells the parity of the sum.

Prompt (plain): `Is the sum of the digits of 52817 even?`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sealbench.crypto.stream import Stream
from sealbench.errors import CertificateFailed
from sealbench.tasks.base import Instance, Json, Rendered, Slot
from sealbench.tasks.parameters import Given, integers_of, require_per_class, require_room
from sealbench.tasks.wordings import WORDINGS, Question, render_question

KIND = "uniform"


@dataclass(frozen=True)
class DigitSumParity:
    """The family object; its one parameter is digits."""

    name: str = "digit_sum_parity"
    version: int = 1
    summary: str = "is the digit sum even? both answers cost the same: the negative control"
    classes: tuple[str, ...] = ("even", "odd")
    wordings: tuple[str, ...] = WORDINGS
    sources: tuple[str, ...] = (
        "sealbench.tasks.digit_sum_parity",
        "sealbench.tasks.wordings",
        "sealbench.crypto.stream",
    )

    def complete(self, given: Mapping[str, str]) -> dict[str, Json]:
        """Digits: 2 to 200, 20 by default, several allowed."""
        reader = Given(self.name, given, ("digits",))
        return {"digits": list(reader.integers("digits", 20, 2, 200))}

    def slots(self, parameters: Mapping[str, Json], per_class: int) -> list[Slot]:
        """`per_class` slots for each class and number of digits."""
        require_per_class(self.name, per_class)
        slots: list[Slot] = []
        room: dict[tuple[str, str], int] = {}
        for digits in integers_of(parameters, "digits"):
            stratum = f"digits_{digits}"
            for label in self.classes:
                room[label, stratum] = 45 * 10 ** (digits - 2)
                slots += [Slot(label, KIND, stratum) for _ in range(per_class)]
        require_room(self.name, slots, room, "take more digits, for example -p digit_sum_parity.digits=12")
        return slots

    def generate(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """A uniform number of the slot's size and parity."""
        digits = int(slot.stratum.split("_")[1])
        wanted = 0 if slot.class_label == "even" else 1
        while True:
            number = stream.between(10 ** (digits - 1), 10**digits - 1)
            total = sum(int(digit) for digit in str(number))
            if total % 2 == wanted:
                break
        # Always as text: the problem is about digits, not about a value.
        return Instance(
            slot.class_label,
            slot.kind,
            slot.stratum,
            "none",
            {"digits": str(number)},
            {"type": "digit_sum", "sum": total},
        )

    def render(self, instance: Instance, wording: str, stream: Stream) -> Rendered:
        """The question about the digit sum, in one of the four wordings."""
        number = instance.params["digits"]
        question = Question(
            plain=f"Is the sum of the digits of {number} even?",
            inverted=f"Is the sum of the digits of {number} odd?",
            either=f"Is the sum of the digits of {number} even or odd?",
            data="",
            yes="even",
            words={"even": "even", "odd": "odd"},
        )
        return render_question(question, instance.class_label, wording, stream, self.name)

    def check(self, params: Mapping[str, Json], class_label: str, certificate: Mapping[str, Json]) -> None:
        """Add the digits up again."""
        from sealbench.tasks.certificates import fail, read_integer, require_keys, require_type

        require_keys(params, ("digits",), "params")
        require_type(certificate, "digit_sum", ("sum",))
        text = params["digits"]
        if not (isinstance(text, str) and text.isascii() and text.isdigit() and text[0] != "0"):
            fail("digits is not a number written in digits")
        total = sum(int(digit) for digit in text)
        if read_integer(certificate["sum"], "sum") != total:
            fail(f"the digits of {text} add up to {total}")
        if class_label not in self.classes:
            raise CertificateFailed(
                f"digit_sum_parity has no class '{class_label}'", hint="its classes are even and odd"
            )
        if class_label != self.classes[total % 2]:
            fail(f"the digit sum {total} is {self.classes[total % 2]}, not {class_label}")


FAMILY = DigitSumParity()
