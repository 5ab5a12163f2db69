"""Satisfiability: can these clauses all be true at once?

Random clauses of three different variables each, in which all variables and both signs of each occur
equally often, so that no count of them hints at the class. Classes: `unsatisfiable` (every assignment
must be ruled out) and `satisfiable` (one assignment ends the search). Both classes are random formulas
of the same numbers of variables and clauses, kept if they fall into the wanted class: nothing is planted.

Certificates: the first satisfying assignment in counting order (x1 the highest digit, false before true),
or the whole refutation: the tree of assignments to x1, x2, … in depth-first order, false first, each
branch cut at the first clause that is already false.

Prompt (plain): `Can the variables x1 to x8 be set to true or false so that every clause below is true?`,
then one line for each clause: `x1 or not x3 or x7`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sealbench.crypto.stream import Stream
from sealbench.errors import CertificateFailed, ConfigurationError
from sealbench.tasks.base import Instance, Json, Rendered, Slot
from sealbench.tasks.parameters import Given, integer_of, require_per_class
from sealbench.tasks.wordings import WORDINGS, Question, render_question

KIND = "random3"
_MOST_DRAWS = 20_000


@dataclass(frozen=True)
class Satisfiability:
    """The family object; its parameters are variables and clauses."""

    name: str = "satisfiability"
    version: int = 1
    summary: str = "can all clauses be true? no needs every assignment, yes one"
    classes: tuple[str, ...] = ("unsatisfiable", "satisfiable")
    wordings: tuple[str, ...] = WORDINGS
    sources: tuple[str, ...] = (
        "sealbench.tasks.satisfiability",
        "sealbench.tasks.wordings",
        "sealbench.crypto.stream",
    )

    def complete(self, given: Mapping[str, str]) -> dict[str, Json]:
        """Variables (4 to 12, 8 by default) and clauses (3 to 6 for each variable, 4 by default)."""
        reader = Given(self.name, given, ("variables", "clauses"))
        variables = reader.integer("variables", 8, 4, 12)
        usual = 4 * variables
        clauses = reader.integer("clauses", usual, 1, 500)
        # Outside this range one of the classes hardly occurs.
        if not 3 * variables <= clauses <= 6 * variables:
            raise reader.error(
                "clauses",
                f"must lie from {3 * variables} to {6 * variables} for {variables} variables",
                f"{usual}",
            )
        return {"variables": variables, "clauses": clauses}

    def slots(self, parameters: Mapping[str, Json], per_class: int) -> list[Slot]:
        """`per_class` slots for each class."""
        require_per_class(self.name, per_class)
        stratum = f"variables_{integer_of(parameters, 'variables')}"
        return [Slot(label, KIND, stratum) for label in self.classes for _ in range(per_class)]

    def generate(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """A random formula of the slot's class."""
        variables, count = integer_of(parameters, "variables"), integer_of(parameters, "clauses")
        satisfiable = slot.class_label == "satisfiable"
        for _ in range(_MOST_DRAWS):
            clauses = _draw_formula(variables, count, stream)
            first = _first_assignment(clauses, variables)
            if (first is not None) == satisfiable:
                break
        else:
            raise ConfigurationError(
                f"satisfiability: no {slot.class_label} formula in {_MOST_DRAWS} draws",
                hint=f"take satisfiability.clauses={4 * variables}",
            )
        certificate: dict[str, Json] = (
            {"type": "refutation", "leaves": list(_refute(clauses, variables))}
            if first is None
            else {"type": "assignment", "values": list(first)}
        )
        return Instance(
            slot.class_label,
            slot.kind,
            slot.stratum,
            "witness" if satisfiable else "exhaustive",
            {"variables": variables, "clauses": [list(clause) for clause in clauses]},
            certificate,
        )

    def render(self, instance: Instance, wording: str, stream: Stream) -> Rendered:
        """The question about the clauses, in one of the four wordings."""
        variables = integer_of(instance.params, "variables")
        lines = [
            " or ".join(f"x{literal}" if literal > 0 else f"not x{-literal}" for literal in clause)
            for clause in _clauses_of(instance.params)
        ]
        goal = "so that every clause below is true"
        question = Question(
            plain=f"Can the variables x1 to x{variables} be set to true or false {goal}?",
            inverted=f"Is it impossible to set the variables x1 to x{variables} to true or false {goal}?",
            either=f"Is it possible or impossible to set the variables x1 to x{variables} to true or "
            f"false {goal}?",
            data="\n".join(lines),
            yes="satisfiable",
            words={"satisfiable": "possible", "unsatisfiable": "impossible"},
        )
        return render_question(question, instance.class_label, wording, stream, self.name)

    def check(self, params: Mapping[str, Json], class_label: str, certificate: Mapping[str, Json]) -> None:
        """Replay the assignment, or every leaf of the refutation, against the clauses."""
        from sealbench.tasks.satisfiability_certificates import (
            check_assignment,
            check_refutation,
            read_formula,
        )

        variables, clauses = read_formula(params)
        if class_label == "satisfiable":
            check_assignment(variables, clauses, certificate)
        elif class_label == "unsatisfiable":
            check_refutation(variables, clauses, certificate)
        else:
            raise CertificateFailed(
                f"satisfiability has no class '{class_label}'",
                hint="its classes are unsatisfiable and satisfiable",
            )


def _clauses_of(params: Mapping[str, Json]) -> list[list[int]]:
    clauses = params["clauses"]
    rows = [clause for clause in clauses if isinstance(clause, list)] if isinstance(clauses, list) else []
    return [[literal for literal in clause if isinstance(literal, int)] for clause in rows]


def _draw_formula(variables: int, count: int, stream: Stream) -> list[tuple[int, ...]]:
    """Random clauses in which all variables, and both signs of each, occur equally often (or nearly)."""
    places = [place % variables + 1 for place in range(3 * count)]
    stream.shuffle(places)
    for start in range(0, 3 * count, 3):
        while len(set(places[start : start + 3])) < 3:
            inside, other = start + stream.below(3), stream.below(3 * count)
            places[inside], places[other] = places[other], places[inside]
            if other < start and len(set(places[other // 3 * 3 : other // 3 * 3 + 3])) < 3:
                # The swap would spoil a clause that is already good.
                places[inside], places[other] = places[other], places[inside]
    signs = {variable: _draw_signs(places.count(variable), stream) for variable in range(1, variables + 1)}
    clauses = []
    for start in range(0, 3 * count, 3):
        clauses.append(
            tuple(signs[variable].pop() * variable for variable in sorted(places[start : start + 3]))
        )
    return clauses


def _draw_signs(count: int, stream: Stream) -> list[int]:
    """Signs in random order, half of them negative; an odd one out has a random sign."""
    signs = [1, -1] * (count // 2)
    if count % 2:
        signs.append(1 if stream.below(2) else -1)
    stream.shuffle(signs)
    return signs


@cache
def _true_in(literal: int, variables: int) -> int:
    """The set of assignments (one bit for each, in counting order) in which a literal is true."""
    shift = variables - abs(literal)
    wanted = 1 if literal > 0 else 0
    return sum(1 << row for row in range(1 << variables) if row >> shift & 1 == wanted)


def _first_assignment(clauses: list[tuple[int, ...]], variables: int) -> list[bool] | None:
    """The first assignment in counting order that makes every clause true, or None."""
    rows = (1 << (1 << variables)) - 1
    for a, b, c in clauses:
        rows &= _true_in(a, variables) | _true_in(b, variables) | _true_in(c, variables)
    if not rows:
        return None
    row = (rows & -rows).bit_length() - 1
    return [bool(row >> (variables - variable) & 1) for variable in range(1, variables + 1)]


def _refute(clauses: list[tuple[int, ...]], variables: int) -> list[int]:
    """The leaves of the refutation: for each cut branch the 1-based number of the first false clause."""
    leaves: list[int] = []
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        values = pending.pop()
        false = next((n for n, clause in enumerate(clauses, 1) if _is_false(clause, values)), None)
        if false is not None:
            leaves.append(false)
        elif len(values) == variables:
            raise ValueError("the formula is satisfiable")
        else:
            pending += [(*values, True), (*values, False)]
    return leaves


def _is_false(clause: tuple[int, ...], values: tuple[bool, ...]) -> bool:
    return all(
        abs(literal) <= len(values) and values[abs(literal) - 1] != (literal > 0) for literal in clause
    )


FAMILY = Satisfiability()
