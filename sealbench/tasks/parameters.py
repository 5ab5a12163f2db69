"""Reading a family's parameters from text, with errors that say what would work.

A parameter arrives as text (`-p primality.digits=6,9`) and leaves as JSON. Every error names the
parameter as the user writes it and ends in a value that is accepted.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from sealbench.errors import ConfigurationError, UsageError
from sealbench.tasks.base import Json, Slot

MAX_DIGITS_OF_A_PARAMETER = 30


class Given:
    """The parameters a user gave to one family; each is read once, and unknown ones are errors."""

    def __init__(self, family: str, given: Mapping[str, str], known: Sequence[str]) -> None:
        self._family = family
        self._given = given
        for name in given:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                raise ConfigurationError(
                    f"{family} has no parameter '{name}'; it has: {', '.join(known) or 'none'}",
                    hint=f"did you mean {family}.{close[0]}?" if close else f"leave {family}.{name} out",
                )

    def error(self, name: str, problem: str, works: str) -> ConfigurationError:
        """The error about one parameter; `works` is a value that would be accepted."""
        given = f" (given: {self._given[name]!r:.60})" if name in self._given else ""
        return ConfigurationError(
            f"{self._family}.{name} {problem}{given}", hint=f"for example: -p {self._family}.{name}={works}"
        )

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """One integer of [low, high]."""
        if name not in self._given:
            return default
        return self._number(name, self._given[name], low, high, str(default))

    def integers(self, name: str, default: int, low: int, high: int) -> list[int]:
        """Different integers of [low, high], from text such as `6`, `6,9` or `6..8`; ascending."""
        if name not in self._given:
            return [default]
        values: set[int] = set()
        for part in self._given[name].split(","):
            first, dots, last = part.partition("..")
            start = self._number(name, first, low, high, str(default))
            end = self._number(name, last, low, high, str(default)) if dots else start
            values.update(range(start, end + 1))
            if end < start:
                raise self.error(name, "has a range that ends before it starts", f"{end}..{start}")
        return sorted(values)

    def span(self, name: str, default: tuple[int, int], low: int, high: int) -> tuple[int, int]:
        """A range of integers `first..last`, both ends included; one integer is a range of one."""
        if name not in self._given:
            return default
        works = f"{default[0]}..{default[1]}"
        first, dots, last = self._given[name].partition("..")
        start = self._number(name, first, low, high, works)
        end = self._number(name, last, low, high, works) if dots else start
        if end < start:
            raise self.error(name, "ends before it starts", f"{end}..{start}")
        return start, end

    def choices(self, name: str, default: str, allowed: Sequence[str]) -> list[str]:
        """Different words of `allowed`, separated by commas, in the order of `allowed`."""
        words = [word.strip() for word in self._given.get(name, default).split(",")]
        for word in words:
            if word not in allowed:
                close = difflib.get_close_matches(word, allowed, n=1)
                raise self.error(name, f"must be of: {', '.join(allowed)}", close[0] if close else default)
        return [word for word in allowed if word in words]

    def choice(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """One word of `allowed`."""
        words = self.choices(name, default, allowed)
        if len(words) != 1:
            raise self.error(name, "takes one word", default)
        return words[0]

    def _number(self, name: str, text: str, low: int, high: int, works: str) -> int:
        text = text.strip()
        unsigned = text.removeprefix("-")
        if not (unsigned.isascii() and unsigned.isdigit()):
            raise self.error(name, "must be a whole number", works)
        if len(unsigned) > MAX_DIGITS_OF_A_PARAMETER or not low <= int(text) <= high:
            raise self.error(name, f"must lie from {low} to {high}", works)
        return int(text)


def integer_of(parameters: Mapping[str, Json], name: str) -> int:
    """An integer of a family's complete parameters; ConfigurationError if it is none."""
    value = parameters.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise _incomplete(name)


def integers_of(parameters: Mapping[str, Json], name: str) -> list[int]:
    """A list of integers of a family's complete parameters; ConfigurationError if it is none."""
    values = parameters.get(name)
    if not isinstance(values, list):
        raise _incomplete(name)
    return [integer_of({name: value}, name) for value in values]


def words_of(parameters: Mapping[str, Json], name: str) -> list[str]:
    """A list of words of a family's complete parameters; ConfigurationError if it is none."""
    values = parameters.get(name)
    if not isinstance(values, list):
        raise _incomplete(name)
    return [str(value) for value in values]


def _incomplete(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"the family's parameters are not complete: '{name}' is missing or of another kind",
        hint="pass the result of the family's complete()",
    )


def require_room(family: str, slots: Sequence[Slot], room: Mapping[tuple[str, str], int], works: str) -> None:
    """UsageError if more different instances are wanted of a (class, stratum) than its room allows.

    `room` counts the different instances that exist, or a lower bound. Three quarters of them may be
    used: beyond that, drawing without repeats takes ever more draws.
    """
    wanted: dict[tuple[str, str], int] = {}
    for slot in slots:
        key = (slot.class_label, slot.stratum)
        wanted[key] = wanted.get(key, 0) + 1
    for key, count in wanted.items():
        limit = room[key] * 3 // 4
        if count > limit:
            raise UsageError(
                f"{family}: {count} different instances of class {key[0]} wanted in stratum {key[1]}, "
                f"but its ranges hold {room[key]}, of which at most {limit} are used",
                hint=f"lower --per-class, or {works}",
            )


def require_per_class(family: str, per_class: int) -> None:
    """UsageError for fewer than one instance a class."""
    if per_class < 1:
        raise UsageError(
            f"{family}: --per-class is {per_class}, so there would be nothing to ask",
            hint="use --per-class 1 or more, for example --per-class 8",
        )
