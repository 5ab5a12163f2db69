"""The control families: digit-sum parity and satisfiability, by brute force."""

from itertools import product

import pytest
from tasks_helpers import draw

from sealbench.crypto.stream import Stream
from sealbench.tasks.satisfiability import _draw_formula


def test_digit_sums():
    _, instances = draw("digit_sum_parity", 30, digits="2,20,60")
    for instance in instances:
        text = instance.params["digits"]
        total = sum(map(int, text))
        assert instance.stratum == f"digits_{len(text)}"
        assert instance.class_label == ("odd" if total % 2 else "even")
        assert instance.certificate["sum"] == total
        assert instance.search == "none"


@pytest.mark.parametrize("variables", [4, 6, 8])
def test_satisfiability_by_brute_force(variables):
    family, instances = draw("satisfiability", 10, variables=variables)
    for instance in instances:
        clauses = instance.params["clauses"]
        satisfying = [
            list(values)
            for values in product((False, True), repeat=variables)
            if all(any(values[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses)
        ]
        assert bool(satisfying) == (instance.class_label == "satisfiable")
        if satisfying:
            assert instance.certificate["values"] == satisfying[0]
        prompt = family.render(instance, "plain", Stream("w")).prompt
        assert prompt.count(" or ") == 2 * len(clauses) + 1 + 1  # clauses, the question, the answer line


@pytest.mark.parametrize(("variables", "clauses"), [(4, 16), (5, 17), (8, 32), (8, 33), (12, 48)])
def test_formulas_are_balanced(variables, clauses):
    stream = Stream("balance", variables, clauses)
    for _ in range(20):
        formula = _draw_formula(variables, clauses, stream)
        assert len(formula) == clauses
        literals = [literal for clause in formula for literal in clause]
        for clause in formula:
            assert [abs(x) for x in clause] == sorted({abs(x) for x in clause})
        counts = [sum(abs(x) == v for x in literals) for v in range(1, variables + 1)]
        assert max(counts) - min(counts) <= 1
        for variable, count in enumerate(counts, 1):
            assert abs(2 * literals.count(variable) - count) <= 1
