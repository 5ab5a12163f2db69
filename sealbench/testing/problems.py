"""Reading a problem out of a prompt, as any model must: by its words alone.

The reference endpoints see an HTTP request and nothing else. Primality (a whole number in a question
about being prime or composite), subset-sum (a list, a target, how many to pick) and the parity of a
digit sum are known; questions may be plain or inverted, and answers Yes/No, a class word, or a
letter with its meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

LARGEST_ROOT = 10**7  # trial division beyond this is given up: "I do not know."

_CHOICE = re.compile(r"[\"“'`]\s*Answer:\s*([^\"”'`\n]+?)\s*[\"”'`]", re.IGNORECASE)
_LETTER_LINE = re.compile(r"^\s*\(?([A-Z])[).:]\s+(.+?)\s*$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_LIST = re.compile(r"-?\d+(?:\s*,\s*(?:and\s+)?-?\d+)+")
_TARGET = re.compile(
    r"(?:target|total|adds?\s+up\s+to|sums?\s+to|sum\s+is|equals?)(?:\s+(?:is|of|value|number|exactly|sum))*"
    r"\s*[:=]?\s*(-?\d+)",
    re.IGNORECASE,
)
_COUNTS = {"two": 2, "pair": 2, "three": 3, "triple": 3, "four": 4, "five": 5, "six": 6}
_SIZE = re.compile(rf"\b({'|'.join(_COUNTS)})\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|without|cannot|absent|missing|impossible|unreachable|unsolvable|infeasible)\b"
    r"|n't\b|\bun(?:sat|reach|solv)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Primality:
    """Is `n` prime? `yes` is what to answer if it is, `no` if it is not."""

    n: int
    yes: str
    no: str


@dataclass(frozen=True)
class SubsetSum:
    """Do any `size` of `numbers` add up to `target`? `yes` and `no` as the prompt wants them written."""

    numbers: tuple[int, ...]
    size: int
    target: int
    yes: str
    no: str


@dataclass(frozen=True)
class DigitSum:
    """Is the sum of `digits` even? No answer needs a longer search than the other."""

    digits: str
    yes: str
    no: str


Problem = Primality | SubsetSum | DigitSum


def read_problem(prompt: str) -> Problem | None:
    """The problem a prompt poses, or None if it is none of those known here."""
    return _read_subset_sum(prompt) or _read_digit_sum(prompt) or _read_primality(prompt)


def _read_primality(prompt: str) -> Primality | None:
    question = _question(prompt)
    lowered = question.lower()
    number = _NUMBER.search(question)
    if number is None or not ("prime" in lowered or "composite" in lowered):
        return None
    if len(number.group()) > 30:
        return None
    first_prime, first_composite = lowered.find("prime"), lowered.find("composite")
    inverted = first_prime < 0 or 0 <= first_composite < first_prime
    if _NEGATION.search(question) or "prime factor" in lowered:
        inverted = not inverted if first_composite < 0 else inverted
    yes, no = _answer_words(prompt, inverted, lambda word: not _says_composite(word))
    return Primality(int(number.group()), yes, no)


def _says_composite(word: str) -> bool:
    return "composite" in word.lower() or bool(_NEGATION.search(word))


def _read_subset_sum(prompt: str) -> SubsetSum | None:
    listed = _LIST.search(prompt)
    if listed is None:
        return None
    rest = prompt[: listed.start()] + "\n" + prompt[listed.end() :]
    target = _TARGET.search(rest)
    if target is None:
        return None
    numbers = tuple(int(text) for text in re.findall(r"-?\d+", listed.group()))
    inverted = bool(_NEGATION.search(_question(rest)))
    if " or " in _question(rest).lower():
        inverted = False  # "is there a pair, or is there no pair": the words of the choices decide
    yes, no = _answer_words(prompt, inverted, lambda word: not _NEGATION.search(word))
    size = _SIZE.search(_question(rest))
    count = _COUNTS.get(size.group(1).lower(), 2) if size else 2
    return SubsetSum(numbers, count, int(target.group(1)), yes, no)


def _read_digit_sum(prompt: str) -> DigitSum | None:
    question = _question(prompt)
    number = _NUMBER.search(question)
    lowered = question.lower()
    if number is None or "digit" not in lowered or not re.search(r"\b(?:even|odd)\b", lowered):
        return None
    inverted = re.search(r"\beven\b", lowered) is None
    yes, no = _answer_words(prompt, inverted, lambda word: "even" in word.lower())
    return DigitSum(number.group(), yes, no)


def _question(prompt: str) -> str:
    """The sentence that asks: up to the first question mark, else the first paragraph."""
    head, mark, _ = prompt.partition("?")
    return re.split(r"[.!]\s", head)[-1] if mark else prompt.split("\n\n")[0]


def _answer_words(prompt: str, inverted: bool, affirms: Callable[[str], bool]) -> tuple[str, str]:
    """(what to write if the property holds, what to write if not)."""
    choices = _CHOICE.findall(prompt)
    if len(choices) < 2 or {choice.lower() for choice in choices[:2]} == {"yes", "no"}:
        return ("No", "Yes") if inverted else ("Yes", "No")
    meanings = dict(_LETTER_LINE.findall(prompt))
    first, second = choices[0], choices[1]
    return (first, second) if affirms(meanings.get(first, first)) else (second, first)


@cache
def _sieve(bound: int) -> tuple[int, ...]:
    flags = bytearray([1]) * (bound + 1)
    flags[:2] = b"\0\0"
    for value in range(2, math.isqrt(bound) + 1):
        if flags[value]:
            flags[value * value :: value] = bytes(len(range(value * value, bound + 1, value)))
    return tuple(value for value in range(bound + 1) if flags[value])


def primes_up_to(bound: int) -> Iterator[int]:
    """The primes up to `bound` in turn; sieved in growing blocks, since most readers stop early."""
    limit = 1000
    below = 0
    while below < bound:
        for prime in _sieve(limit):
            if below < prime <= bound:
                yield prime
        below, limit = limit, limit * 10


def is_prime(n: int) -> bool:
    """Deterministic Miller–Rabin below 3.3e24 (Sorenson and Webster 2015), strong probable above."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if n < 2:
        return False
    for prime in bases:
        if n % prime == 0:
            return n == prime
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in bases:
        value = pow(base, odd, n)
        if value in (1, n - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % n
            if value == n - 1:
                break
        else:
            return False
    return True


def holds(problem: Problem) -> bool:
    """Whether the property asked about holds, computed without showing any work."""
    if isinstance(problem, Primality):
        return is_prime(problem.n)
    if isinstance(problem, DigitSum):
        return sum(map(int, problem.digits)) % 2 == 0
    return any(sum(chosen) == problem.target for chosen in combinations(problem.numbers, problem.size))
