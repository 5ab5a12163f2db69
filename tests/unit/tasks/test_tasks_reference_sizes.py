"""Default sizes: what a plain solver writes, in tokens, lies on the right side of caps 300 and 4000.

The solver divides by the primes in turn, or tries the pairs in turn, and writes a line for each. It reads
the problem from the prompt, as a model must.
"""

import math
import re

import pytest
from tasks_helpers import draw

from sealbench.crypto.stream import Stream
from sealbench.tasks.answers import grade, parse
from sealbench.tasks.arithmetic import primes_below

TOKEN = re.compile(r"[0-9]{1,3}|[A-Za-z]+|[^\sA-Za-z0-9]")


def _tokens(text):
    return len(TOKEN.findall(text)) + 1


def _solve_primality(prompt):
    n = int(re.search(r"Is (\d+) a prime number\?", prompt)[1])
    lines = [f"Is {n} prime? Try each divisor up to its square root."]
    for divisor in primes_below(math.isqrt(n) + 1):
        quotient, remainder = divmod(n, divisor)
        lines.append(f"{n} / {divisor} = {quotient} r {remainder}.")
        if remainder == 0:
            return "\n".join([*lines, f"{divisor} divides it. Answer: No"])
    return "\n".join([*lines, "No divisor. Answer: Yes"])


def _solve_subset_sum(prompt):
    numbers = [int(text) for text in re.search(r"Numbers: ([\d, ]+)", prompt)[1].split(", ")]
    target = int(re.search(r"Target: (\d+)", prompt)[1])
    lines = [f"Does any pair add up to {target}?"]
    for i, first in enumerate(numbers):
        for second in numbers[i + 1 :]:
            lines.append(f"{first} + {second} = {first + second}.")
            if first + second == target:
                return "\n".join([*lines, f"That is {target}. Answer: Yes"])
    return "\n".join([*lines, "No pair. Answer: No"])


@pytest.mark.parametrize(
    ("name", "solve", "long_class"),
    [("primality", _solve_primality, "prime"), ("subset_sum", _solve_subset_sum, "no")],
)
def test_default_sizes_for_many_draws(name, solve, long_class):
    family, instances = draw(name, 1200)
    for instance in instances:
        rendered = family.render(instance, "plain", Stream("w"))
        text = solve(rendered.prompt)
        assert grade(parse(text, rendered.answer_type), rendered.answer) == "right"
        if instance.class_label == long_class:
            assert 300 < _tokens(text) < 4000
        else:
            assert _tokens(text) < 300


@pytest.mark.parametrize("n", [100003, 999983])
def test_the_smallest_and_largest_prime_of_six_digits(n):
    assert 300 < _tokens(_solve_primality(f"Is {n} a prime number?")) < 4000


def test_the_longest_easy_composite_of_six_digits():
    # Least factor 47 is the fifteenth prime: fifteen lines, whatever the number.
    longest = max(_tokens(_solve_primality(f"Is {47 * m} a prime number?")) for m in (21269, 21271, 2131))
    assert longest < 300


def test_balanced_semiprimes_are_nearly_as_long_as_primes():
    family, instances = draw("primality", 200, composite="semiprime")
    for instance in instances:
        text = _solve_primality(family.render(instance, "plain", Stream("w")).prompt)
        assert 300 < _tokens(text) < 4000


def test_exhaustive_class_comes_first():
    for name in ("primality", "subset_sum", "satisfiability"):
        family, instances = draw(name, 1)
        searches = {instance.class_label: instance.search for instance in instances}
        assert [searches[label] for label in family.classes] == ["exhaustive", "witness"]
