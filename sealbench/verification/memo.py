"""Remembers the outcome of pure checks by the content they were given, within one Verifier.

Checking a workspace again after one file changed then costs only what depends on that file. Errors
of this package are outcomes too. Old entries go when the remembered content exceeds a limit; nothing
is remembered globally.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from sealbench.errors import SealError

P = ParamSpec("P")
R = TypeVar("R")
DEFAULT_LIMIT = 24 << 20  # bytes of input remembered


class Memo:
    """Outcomes of pure functions, least recently used out first. `limit` counts bytes of arguments."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._outcomes: OrderedDict[tuple[Any, ...], tuple[Any, SealError | None]] = OrderedDict()

    def make_room(self, size: int) -> None:
        """Raise the limit to at least `size` bytes, so that one tree's own outcomes all stay."""
        self._limit = max(self._limit, size)

    def call(self, function: Callable[P, R], *arguments: P.args, **none: P.kwargs) -> R:
        """`function(*arguments)`, or what it gave or raised for the same arguments before.

        Arguments must be hashable and the function pure. Bytes remember their own hash, so asking
        again with the same object costs nothing in proportion to its length.
        """
        key = (function, *arguments)
        found = self._outcomes.get(key)
        if found is None:
            found = self._compute(function, arguments)
            self._remember(key, found)
        else:
            self._outcomes.move_to_end(key)
        value, error = found
        if error is not None:
            # The same exception object is raised again: without this its traceback would grow.
            raise error.with_traceback(None)
        return cast(R, value)

    @staticmethod
    def _compute(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, SealError | None]:
        try:
            return function(*arguments), None
        except SealError as error:
            return None, error

    def _remember(self, key: tuple[Any, ...], outcome: tuple[Any, SealError | None]) -> None:
        self._outcomes[key] = outcome
        self._size += _weight(key)
        while self._size > self._limit and len(self._outcomes) > 1:
            oldest, _ = self._outcomes.popitem(last=False)
            self._size -= _weight(oldest)


def _weight(key: tuple[Any, ...]) -> int:
    return 200 + sum(len(part) for part in key if isinstance(part, (bytes, str)))
