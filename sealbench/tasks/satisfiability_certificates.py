"""The separate checker of satisfiability certificates; it shares no code with the makers.

An assignment must be the first satisfying one in counting order. A refutation is replayed as a tree:
a branch may end only where the clause it names is false under the branch's values, and that clause must
be the first such; a branch that sets every variable and falsifies nothing is a satisfying assignment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from sealbench.tasks.base import Json
from sealbench.tasks.certificates import fail, read_integer, read_integers, require_keys, require_type

_MOST_VARIABLES = 12
Clause = tuple[int, ...]


def read_formula(params: Mapping[str, Json]) -> tuple[int, list[Clause]]:
    """The number of variables and the clauses, each of three different variables in ascending order."""
    require_keys(params, ("variables", "clauses"), "params")
    variables = read_integer(params["variables"], "variables")
    given = params["clauses"]
    if not 3 <= variables <= _MOST_VARIABLES or not isinstance(given, list) or not given:
        fail("params is not a formula of this family")
    clauses: list[Clause] = []
    for clause in given:
        if not isinstance(clause, list) or len(clause) != 3:
            fail("a clause does not have three literals")
        literals = tuple(literal for literal in clause if isinstance(literal, int))
        named = [abs(literal) for literal in literals]
        if any(isinstance(literal, bool) for literal in clause) or named != sorted(set(named)):
            fail("a clause does not name three different variables in ascending order")
        if len(named) != 3 or named[0] < 1 or named[-1] > variables:
            fail("a clause names a variable that does not exist")
        clauses.append(literals)
    return variables, clauses


def check_assignment(variables: int, clauses: Sequence[Clause], certificate: Mapping[str, Json]) -> None:
    """Show the formula satisfiable by its first satisfying assignment."""
    require_type(certificate, "assignment", ("values",))
    values = certificate["values"]
    if not isinstance(values, list) or len(values) != variables:
        fail(f"the assignment does not set {variables} variables")
    if not all(isinstance(value, bool) for value in values):
        fail("the assignment holds something else than true and false")
    for candidate in product((False, True), repeat=variables):
        holds = all(any(candidate[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses)
        if list(candidate) == values:
            if not holds:
                fail("the assignment leaves a clause false")
            return
        if holds:
            fail("an earlier assignment satisfies the formula as well")


def check_refutation(variables: int, clauses: Sequence[Clause], certificate: Mapping[str, Json]) -> None:
    """Show the formula unsatisfiable by replaying the tree of assignments."""
    require_type(certificate, "refutation", ("leaves",))
    leaves = read_integers(certificate["leaves"], "leaves")
    used = 0
    branch: list[bool] = []
    while True:
        false = [n for n, clause in enumerate(clauses, 1) if _falsified(clause, branch)]
        if false:
            if used >= len(leaves) or leaves[used] != false[0]:
                fail(f"leaf {used + 1} of the refutation is not clause {false[0]}")
            used += 1
            while branch and branch[-1]:
                branch.pop()
            if not branch:
                break
            branch[-1] = True
        elif len(branch) == variables:
            fail("an assignment satisfies the formula after all")
        else:
            branch.append(False)
    if used != len(leaves):
        fail("the refutation has leaves left over")


def _falsified(clause: Clause, branch: Sequence[bool]) -> bool:
    """Whether every literal of the clause is already false."""
    if abs(clause[-1]) > len(branch):
        return False
    return not any(branch[abs(x) - 1] is (x > 0) for x in clause)
