"""Remembers the outcome of pure checks by the content they were given, within one Verifier.

Checking a workspace again after one file changed then costs only what depends on that file. Errors
of this package are outcomes too. Old entries go when the remembered content exceeds a limit; nothing
is remembered globally, except by a process that computes outcomes for another one's memo.

The costly checks can be computed by other processes (`Elsewhere`). They are pure, so where they are
computed cannot be seen in what they give; if a process dies, its check is computed here. Several
threads may ask at once: what one of them is computing, the others wait for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

from sealbench.errors import SealError

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
_LOOK_SECONDS = 0.2
DEFAULT_LIMIT = 24 << 20  # bytes of input remembered


@dataclass(frozen=True)
class Elsewhere:
    """Who computes costly outcomes: an executor of other processes, and how many it computes at a time."""

    executor: Executor
    places: int


class GivenUp(Exception):
    """Nobody wants the outcomes any more."""


Outcome = tuple[Any, SealError | None]


class Memo:
    """Outcomes of pure functions, least recently used out first. `limit` counts bytes of arguments."""

    def __init__(self, limit: int = DEFAULT_LIMIT, elsewhere: Elsewhere | None = None) -> None:
        self._limit = limit
        self._elsewhere = elsewhere
        self._lock = threading.Lock()
        self._size = 0
        self._outcomes: OrderedDict[tuple[Any, ...], Outcome] = OrderedDict()
        self._computing: dict[tuple[Any, ...], Future[Outcome]] = {}
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Let the threads that still compute for it end soon, by GivenUp; it is of no use afterwards."""
        self._given_up.set()

    def make_room(self, size: int) -> None:
        """Raise the limit to at least `size` bytes, so that one tree's own outcomes all stay."""
        self._limit = max(self._limit, size)

    def call(self, function: Callable[P, R], *arguments: P.args, **none: P.kwargs) -> R:
        """`function(*arguments)`, or what it gave or raised for the same arguments before.

        Arguments must be hashable and the function pure. Bytes remember their own hash, so asking
        again with the same object costs nothing in proportion to its length.
        """
        return cast(R, self._outcome(compute, function, arguments))

    def costly(self, function: Callable[P, R], *arguments: P.args, **none: P.kwargs) -> R:
        """As `call`, for a function of a module that is worth asking another process for."""
        return cast(R, self._outcome(self._compute_elsewhere, function, arguments))

    def spread(self, function: Callable[P, R], *arguments: P.args, **none: P.kwargs) -> R:
        """As `costly`, and remembers nothing: for arguments made for this, such as parts of a large file."""
        value, error = self._compute_elsewhere(function, arguments)
        if error is not None:
            raise error
        return cast(R, value)

    def each(self, check: Callable[[S], R], subjects: Iterable[S]) -> Iterator[R]:
        """`check` of each subject, in their order; several at a time where others compute for it."""
        if self._elsewhere is None:
            yield from map(check, subjects)
            return

        def one(subject: S) -> R:
            self._go_on()
            return check(subject)

        # Threads that wait for other processes: more than these, so that there is always one to be given.
        with ThreadPoolExecutor(4 * self._elsewhere.places) as threads:
            yield from threads.map(one, subjects)

    def _go_on(self) -> None:
        if self._given_up.is_set():
            raise GivenUp

    def _outcome(
        self,
        chosen: Callable[[Callable[..., Any], tuple[Any, ...]], Outcome],
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
    ) -> Any:
        key = (function, *arguments)
        with self._lock:
            found = self._outcomes.get(key)
            computed = self._computing.get(key)
            if found is not None:
                self._outcomes.move_to_end(key)
            elif computed is None:
                self._computing[key] = mine = Future[Outcome]()
        if found is None:
            # Pure functions that ask for one another cannot go round in a circle, so no two threads wait
            # for each other here.
            found = computed.result() if computed else self._compute(key, mine, chosen)
        value, error = found
        if error is not None:
            # The same exception object is raised again: without this its traceback would grow.
            raise error.with_traceback(None)
        return value

    def _compute(
        self,
        key: tuple[Any, ...],
        mine: Future[Outcome],
        chosen: Callable[[Callable[..., Any], tuple[Any, ...]], Outcome],
    ) -> Outcome:
        try:
            found = chosen(key[0], key[1:])
        except BaseException as bug:
            with self._lock:
                del self._computing[key]
            mine.set_exception(bug)
            raise
        with self._lock:
            del self._computing[key]
            self._remember(key, found)
        mine.set_result(found)
        return found

    def _compute_elsewhere(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
        if self._elsewhere is None:
            return compute(function, arguments)
        try:
            future = self._elsewhere.executor.submit(compute, function, arguments)
            # An executor that was closed meanwhile may never answer.
            while not wait([future], timeout=_LOOK_SECONDS).done:
                self._go_on()
            return future.result()
        except Exception:  # noqa: BLE001  # a dead process, a lost cluster: what matters is the outcome
            self._go_on()
            return compute(function, arguments)

    def __reduce__(self) -> tuple[Callable[[], Memo], tuple[()]]:
        """A memo among the arguments of a check: in another process, the memo of that process."""
        return _memo_of_this_process, ()

    def _remember(self, key: tuple[Any, ...], outcome: Outcome) -> None:
        self._outcomes[key] = outcome
        self._size += _weight(key)
        while self._size > self._limit and len(self._outcomes) > 1:
            oldest, _ = self._outcomes.popitem(last=False)
            self._size -= _weight(oldest)


def compute(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """What a function gives or raises; a bug is raised as it is."""
    try:
        return function(*arguments), None
    except SealError as error:
        return None, error


_of_this_process = Memo()


def _memo_of_this_process() -> Memo:
    return _of_this_process


def _weight(key: tuple[Any, ...]) -> int:
    return 200 + sum(len(part) for part in key if isinstance(part, (bytes, str)))
