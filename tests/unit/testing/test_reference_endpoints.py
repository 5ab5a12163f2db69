"""The reference endpoints: they read problems from prompts, work honestly, and are cut honestly."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealbench.testing.problems import (
    DigitSum,
    Primality,
    SubsetSum,
    holds,
    is_prime,
    primes_up_to,
    read_problem,
)
from sealbench.testing.reference import CONSTANT_TOKENS, complete, count_tokens

YES_NO = '\n\nEnd your reply with one line of the form "Answer: Yes" or "Answer: No".'
LIST = "\n\nNumbers: 101, 250, 183, 333, 407\nTarget: 433"


def closing(first: str, second: str) -> str:
    return f'\n\nEnd your reply with one line of the form "Answer: {first}" or "Answer: {second}".'


def naive_prime(n: int) -> bool:
    return n > 1 and all(n % divisor for divisor in range(2, math.isqrt(n) + 1))


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("Is 123457 a prime number?" + YES_NO, Primality(123457, "Yes", "No")),
        ("Is 123457 a composite number?" + YES_NO, Primality(123457, "No", "Yes")),
        ("Is 91 prime?", Primality(91, "Yes", "No")),
        ("Is 91 composite?", Primality(91, "No", "Yes")),
        (
            "Is 91 prime or composite?" + closing("prime", "composite"),
            Primality(91, "prime", "composite"),
        ),
        (
            "Is 91 prime or composite?\n\nA) composite\nB) prime" + closing("A", "B"),
            Primality(91, "B", "A"),
        ),
        (
            "Do any two of the numbers below add up to exactly 433?" + LIST + YES_NO,
            SubsetSum((101, 250, 183, 333, 407), 2, 433, "Yes", "No"),
        ),
        (
            "Is it true that no two of the numbers below add up to exactly 433?" + LIST + YES_NO,
            SubsetSum((101, 250, 183, 333, 407), 2, 433, "No", "Yes"),
        ),
        (
            "Is it possible or impossible to pick three of the numbers below that add up to exactly 433?"
            + LIST
            + closing("possible", "impossible"),
            SubsetSum((101, 250, 183, 333, 407), 3, 433, "possible", "impossible"),
        ),
        (
            "Is it possible or impossible to pick two of the numbers below that add up to exactly 433?"
            + LIST
            + "\n\nA) impossible\nB) possible"
            + closing("A", "B"),
            SubsetSum((101, 250, 183, 333, 407), 2, 433, "B", "A"),
        ),
        (
            "Does any pair add up to the target?" + LIST,
            SubsetSum((101, 250, 183, 333, 407), 2, 433, "Yes", "No"),
        ),
        ("Is the sum of the digits of 90210 odd?" + YES_NO, DigitSum("90210", "No", "Yes")),
        (
            "Is the sum of the digits of 90210 even or odd?" + closing("even", "odd"),
            DigitSum("90210", "even", "odd"),
        ),
        ("What is the capital of France?", None),
        ("", None),
    ],
)
def test_problems_are_read_from_the_prompt(prompt: str, problem: object) -> None:
    assert read_problem(prompt) == problem


@given(st.text(max_size=300))
@settings(max_examples=150)
def test_any_prompt_gets_an_answer(prompt: str) -> None:
    for model in ("solver", "reasoner", "constant"):
        assert complete(model, prompt, 50).completion_tokens <= 50


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9, 91, 561, 7919, 99_991, 999_983, 999_999, 998_001])
def test_solver_is_right_and_shows_why(n: int) -> None:
    completion = complete("solver", f"Is {n} prime?", None)
    assert completion.text.splitlines()[-1] == ("Answer: Yes" if naive_prime(n) else "Answer: No")
    divisions = re.findall(r"^(\d+) / (\d+) = (\d+) r (\d+)\.$", completion.text, re.MULTILINE)
    assert all(int(a) == int(d) * int(q) + int(r) for a, d, q, r in divisions)
    if naive_prime(n) and n > 3:
        assert [int(d) for _, d, _, _ in divisions] == list(primes_up_to(math.isqrt(n)))


@given(st.lists(st.integers(100, 499), min_size=3, max_size=9), st.integers(200, 998), st.integers(2, 3))
@settings(max_examples=60)
def test_subset_sum_is_right(numbers: list[int], target: int, size: int) -> None:
    word = {2: "two", 3: "three"}[size]
    listed = ", ".join(map(str, numbers))
    question = f"Do any {word} of the numbers below add up to exactly {target}?"
    prompt = f"{question}\n\nNumbers: {listed}\nTarget: {target}"
    sums = [{0}] + [set() for _ in range(size)]
    for number in numbers:
        for count in range(size, 0, -1):
            sums[count] |= {total + number for total in sums[count - 1]}
    wanted = "Answer: Yes" if target in sums[size] else "Answer: No"
    for model in ("solver", "reasoner", "constant"):
        assert complete(model, prompt, None).text.splitlines()[-1] == wanted


def test_work_is_as_long_as_the_search() -> None:
    """Figures of the design: six-digit primes 631 to 1701 tokens, least factor 7 to 47 at most 172."""
    primes = [n for n in [*range(100_000, 100_200), *range(999_800, 1_000_000)] if naive_prime(n)]
    lengths = [complete("solver", f"Is {n} a prime number?", None).completion_tokens for n in primes]
    assert min(lengths) >= 600
    assert max(lengths) <= 1750
    easy = [
        n for n in range(999_000, 1_000_000) if any(n % d == 0 for d in (7, 11, 13, 47)) and n % 2 and n % 3
    ]
    assert all(complete("solver", f"Is {n} prime?", None).completion_tokens <= 180 for n in easy if n % 5)


@pytest.mark.parametrize("cap", [1, 2, 50, 299, 300, 301])
def test_a_cut_is_exactly_at_the_cap(cap: int) -> None:
    prompt = "Is 999983 a prime number?"
    whole = complete("solver", prompt, None)
    cut = complete("solver", prompt, cap)
    assert cut.cut
    assert cut.completion_tokens == cap == count_tokens(cut.text)
    assert whole.text.startswith(cut.text)
    hidden = complete("reasoner", prompt, cap)
    assert (hidden.text, hidden.cut, hidden.reasoning_tokens) == ("", True, cap)


@pytest.mark.parametrize("model", ["solver", "reasoner", "constant"])
def test_a_cap_of_exactly_the_length_does_not_cut(model: str) -> None:
    prompt = "Is 100003 a prime number?"
    length = complete(model, prompt, None).completion_tokens
    assert not complete(model, prompt, length).cut
    assert complete(model, prompt, length - 1).cut


def test_reasoner_hides_the_work_and_shows_the_answer() -> None:
    completion = complete("reasoner", "Is 91 prime?", None)
    assert completion.text == "Answer: No"
    assert "91 / 7 = 13 r 0." in completion.reasoning
    assert completion.reasoning_tokens == count_tokens(completion.reasoning)
    assert completion.completion_tokens == completion.reasoning_tokens + count_tokens(completion.text) + 1


@pytest.mark.parametrize("n", [100_003, 999_983, 999_999, 123_456])
def test_constant_is_always_equally_long_and_right(n: int) -> None:
    for question, yes in ((f"Is {n} prime?", naive_prime(n)), (f"Is {n} composite?", not naive_prime(n))):
        completion = complete("constant", question, 300)
        assert completion.completion_tokens == CONSTANT_TOKENS
        assert completion.text.endswith("Answer: Yes" if yes else "Answer: No")


def test_quiet_primality_agrees_with_trial_division() -> None:
    assert [n for n in range(3000) if is_prime(n)] == list(primes_up_to(2999))
    assert not is_prime(3_215_031_751)  # strong pseudoprime to the bases 2, 3, 5 and 7
    assert holds(Primality(2**61 - 1, "Yes", "No"))


def test_a_number_too_large_is_given_up() -> None:
    assert complete("solver", f"Is {10**29 + 7} prime?", None).text == "I do not know."
