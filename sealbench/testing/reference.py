"""The reference endpoints as pure functions: prompt and cap in, text, stop word and token counts out.

    solver    solves by the plain algorithm and writes its work down, then answers
    reasoner  the same work as hidden reasoning, then a short visible answer
    constant  always the same length, always right (the negative control)

They are programs, not models. What the cap cuts is real work of real length: nothing here knows what
a test expects. Tokens are `[0-9]{1,3}|[A-Za-z]+|[^\\sA-Za-z0-9]`, plus one for the end of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from sealbench.testing.problems import (
    LARGEST_ROOT,
    Primality,
    Problem,
    SubsetSum,
    holds,
    primes_up_to,
    read_problem,
)

MODELS = ("solver", "constant", "reasoner", "faulty")
CONSTANT_TOKENS = 80
_TOKEN = re.compile(r"[0-9]{1,3}|[A-Za-z]+|[^\sA-Za-z0-9]")
_UNKNOWN = "I do not know."
_PADDING = ("Nothing", "is", "written", "down", "here", "before", "the", "answer", "follows", "below")


@dataclass(frozen=True)
class Completion:
    """One completion. `completion_tokens` holds reasoning, text and, unless cut, the end token."""

    text: str
    reasoning: str
    cut: bool
    completion_tokens: int
    reasoning_tokens: int
    prompt_tokens: int


def count_tokens(text: str) -> int:
    """Tokens of a text, without the one for its end."""
    return sum(1 for _ in _TOKEN.finditer(text))


def complete(model: str, prompt: str, cap: int | None) -> Completion:
    """What `model` (solver, reasoner, constant) answers at a cap in tokens; None is no cap."""
    if model == "constant":
        return _cut("", _constant_text(prompt), prompt, cap)
    work, answer = _written(prompt, _room(cap))
    if model == "reasoner":
        return _cut(work, answer, prompt, cap)
    return _cut("", f"{work}\n{answer}" if work else answer, prompt, cap)


def _room(cap: int | None) -> int:
    # Rounded up, so that the cache holds one text for all calls at similar caps.
    return 1 << 20 if cap is None else 1 << max(12, (cap + 1).bit_length())


def _cut(reasoning: str, text: str, prompt: str, cap: int | None) -> Completion:
    thought, shown = count_tokens(reasoning), count_tokens(text)
    total = thought + shown + 1
    if cap is None or total <= cap:
        return Completion(text, reasoning, False, total, thought, count_tokens(prompt))
    if thought >= cap:
        return Completion("", _first_tokens(reasoning, cap), True, cap, cap, count_tokens(prompt))
    return Completion(_first_tokens(text, cap - thought), reasoning, True, cap, thought, count_tokens(prompt))


def _first_tokens(text: str, count: int) -> str:
    for number, match in enumerate(_TOKEN.finditer(text), start=1):
        if number == count:
            return text[: match.end()]
    return "" if count < 1 else text


@lru_cache(maxsize=4096)
def _written(prompt: str, room: int) -> tuple[str, str]:
    """(the work, the answer's line); the work stops once it is longer than `room` tokens."""
    problem = read_problem(prompt)
    if problem is None:
        return "", _UNKNOWN
    if isinstance(problem, Primality) and math.isqrt(problem.n) > LARGEST_ROOT:
        return "", _UNKNOWN
    lines: list[str] = []
    written = 0
    shown: bool | None = None
    for line, shown in _steps(problem):  # noqa: B007  # the last step's verdict is the answer
        lines.append(line)
        written += count_tokens(line)
        if written > room:
            break
    return "\n".join(lines), f"Answer: {problem.yes if shown else problem.no}"


def _steps(problem: Problem) -> Iterator[tuple[str, bool | None]]:
    """(line, what it shows about the property asked for) until that is shown to hold or not."""
    if isinstance(problem, Primality):
        yield from _divisions(problem.n)
    elif isinstance(problem, SubsetSum):
        yield from _sums(problem)
    else:
        yield from _digit_sum(problem.digits)


def _sums(problem: SubsetSum) -> Iterator[tuple[str, bool | None]]:
    one = "pair" if problem.size == 2 else f"choice of {problem.size}"
    yield f"Does any {one} add up to {problem.target}?", None
    for chosen in combinations(problem.numbers, problem.size):
        total = sum(chosen)
        yield f"{' + '.join(map(str, chosen))} = {total}.", None
        if total == problem.target:
            yield f"That is {problem.target}.", True
            return
    yield f"No {one}.", False


def _digit_sum(digits: str) -> Iterator[tuple[str, bool | None]]:
    yield f"Add the digits of {digits}.", None
    total = 0
    for digit in digits:
        total += int(digit)
        yield f"+ {digit} = {total}.", None
    yield f"{total} is {'even' if total % 2 == 0 else 'odd'}.", total % 2 == 0


def _divisions(n: int) -> Iterator[tuple[str, bool | None]]:
    yield f"Is {n} prime? Try each prime up to its square root.", None
    if n < 2:
        yield f"{n} is below 2.", False
        return
    for divisor in primes_up_to(math.isqrt(n)):
        quotient, remainder = divmod(n, divisor)
        yield f"{n} / {divisor} = {quotient} r {remainder}.", None
        if remainder == 0:
            yield f"{divisor} divides it.", False
            return
    yield "No divisor.", True


@lru_cache(maxsize=4096)
def _constant_text(prompt: str) -> str:
    problem = read_problem(prompt)
    ending = f"Answer: {problem.yes if holds(problem) else problem.no}" if problem else _UNKNOWN
    padding = CONSTANT_TOKENS - 1 - count_tokens(ending)
    words = [_PADDING[index % len(_PADDING)] for index in range(padding)]
    return f"{' '.join(words)}\n{ending}"
