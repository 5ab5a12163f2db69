"""Dask workers as members of a pool: who is there, who is fit, who has gone.

Every worker becomes a member of its own, with an executor that is bound to it, because Dask's
scheduler by itself runs the tasks of a dead worker again elsewhere, unasked. A request that was sent
twice must stand in the log as two attempts, so doing it again is left to the run's own retries.
Needs the extra `dask`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from importlib import import_module
from typing import Any

from sealbench import __version__
from sealbench.errors import CouldNotCheck, MissingKey, NetworkError, NotYet, SealError, UsageError
from sealbench.workers.pool import Member, WorkerPool
from sealbench.workers.process import Greeting, greet

EXTRA = "dask"
_LOOK_SECONDS = 0.5  # between two looks at who is there
_PATIENCE_SECONDS = 60.0  # without any worker, before the run is ended
_CONNECT_SECONDS = 10.0
Note = Callable[[str], None]


class DaskCluster:
    """A connection to a scheduler. Use as a context manager.

    Parameters
    ----------
    address : of the scheduler, `tcp://host:8786` or `tls://host:8786`.
    on_note : told about each worker that is left out, and why.
    patience : seconds without any worker after which a run ends.

    Raises
    ------
    CouldNotCheck : the extra is not installed. UsageError : not an address.
    NetworkError : no scheduler answers there.
    """

    def __init__(
        self,
        address: str,
        *,
        on_note: Note | None = None,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        self._address = address
        self._variables: tuple[str, ...] = ()
        self._on_note = on_note
        self._patience = patience
        self._left_out: dict[str, SealError] = {}
        self._client = _connect(address)

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(self, *_: object) -> None:
        # A scheduler that went away is no error on the way out, nor is what was given up.
        with contextlib.suppress(OSError, TimeoutError), _quiet():
            self._client.close(timeout=2)

    def require(self, variables: Iterable[str]) -> None:
        """From now on only workers that have these environment variables set are fit; looks once.

        Raises as `pool`.
        """
        self._variables = tuple(sorted(set(variables)))
        self._first_members()

    def pool(self) -> WorkerPool:
        """The fit workers as a pool that follows the cluster.

        Raises
        ------
        NotYet : no worker has joined the scheduler. CouldNotCheck, MissingKey : none of them is fit.
        """
        return WorkerPool(self._first_members(), self._watch)

    def executor(self) -> Executor:
        """All fit workers as one executor, for pure computations, which may be done twice.

        Raises as `pool`.
        """
        addresses = [member.name for member in self._first_members()]
        found: Executor = self._client.get_executor(workers=addresses, pure=False)
        return found

    def slots(self) -> int:
        """Tasks that all workers together run at a time."""
        return sum(self._threads().values())

    def _first_members(self) -> list[Member]:
        with contextlib.suppress(TimeoutError, OSError):
            self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        try:
            threads = self._threads()
        except (OSError, TimeoutError) as error:
            raise self._gone(error) from error
        if not threads:
            raise NotYet(
                f"no worker has joined the scheduler at {self._address}",
                hint=f"dask worker {self._address} --nthreads 32, then repeat this command",
            )
        members = [self._welcome(address, count) for address, count in threads.items()]
        fit = [member for member in members if member is not None]
        if not fit:
            raise next(iter(self._left_out.values()), _unlike(self._address, "lost its only worker"))
        return fit

    async def _watch(self, pool: WorkerPool) -> None:
        """Keep the pool in step with the cluster, for as long as the run lasts."""
        seen = time.monotonic()
        while True:
            try:
                threads = await asyncio.to_thread(self._threads)
            except (OSError, TimeoutError) as error:
                raise self._gone(error) from error
            for name in set(pool.members) - set(threads):
                pool.leave(name)
            self._left_out = {name: why for name, why in self._left_out.items() if name in threads}
            for address, count in threads.items():
                if address not in pool.members and address not in self._left_out:
                    member = await asyncio.to_thread(self._welcome, address, count)
                    if member is not None:
                        pool.join(member)
            if pool.members:
                seen = time.monotonic()
            elif time.monotonic() - seen > self._patience:
                raise NotYet(
                    f"the scheduler at {self._address} has had no fit worker for {self._patience:g} s; "
                    "every answer that is in the log is kept",
                    hint=f"dask worker {self._address} --nthreads 32, then repeat this command",
                )
            await asyncio.sleep(_LOOK_SECONDS)

    def _threads(self) -> dict[str, int]:
        """Each worker's address and number of threads, as the scheduler says now."""
        if self._client.status != "running":
            raise OSError("the connection is closed")
        found = self._client.sync(self._client.scheduler.ncores, callback_timeout=_CONNECT_SECONDS)
        return dict(found)

    def _gone(self, error: BaseException) -> NetworkError:
        return NetworkError(
            f"the Dask scheduler at {self._address} went away ({type(error).__name__}); "
            "every answer that is in the log is kept",
            hint="start it and its workers again, then repeat this command",
        )

    def _welcome(self, address: str, threads: int) -> Member | None:
        """A worker as a member, or None with a note if it cannot be used or is gone again."""
        try:
            greeting: Greeting = self._client.run(greet, self._variables, workers=[address])[address]
            _check_fit(address, greeting)
        except SealError as error:
            self._leave_out(address, error)
            return None
        except ImportError as error:
            self._leave_out(address, _unlike(address, f"cannot import sealbench ({error})"))
            return None
        except Exception as error:  # noqa: BLE001  # what a worker raises comes through as it is there
            if isinstance(error, (OSError, KeyError, ValueError)):
                return None  # it went away between two looks; the next one will tell
            self._leave_out(address, _unlike(address, f"does not answer ({type(error).__name__})"))
            return None
        executor = self._client.get_executor(
            workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        return Member(address, executor, threads, greeting.process)

    def _leave_out(self, address: str, why: SealError) -> None:
        told = address in self._left_out
        self._left_out[address] = why
        if not told and self._on_note is not None:
            self._on_note(f"worker left out: {why.message}")


def _check_fit(address: str, greeting: Greeting) -> None:
    if greeting.version != __version__:
        raise _unlike(address, f"has sealbench {greeting.version}, this is {__version__}")
    if greeting.unset:
        names = " and ".join(greeting.unset)
        raise MissingKey(
            f"the worker {address} has no {names} in its environment",
            hint=f"start the worker where {names} is set: keys are never sent to workers",
        )


def _unlike(address: str, what: str) -> CouldNotCheck:
    return CouldNotCheck(
        f"the worker {address} {what}",
        hint=f"install the same version there: pip install 'sealbench[{EXTRA}]=={__version__}'",
    )


def _connect(address: str) -> Any:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise CouldNotCheck(
            f"--dask needs the extra `{EXTRA}` of sealbench, which is not installed here",
            hint=f"pip install 'sealbench[{EXTRA}]'",
        ) from error
    # Lost workers and schedulers are told in this program's own words.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        with _quiet():
            return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise NetworkError(
            f"no Dask scheduler answers at {address}",
            hint="dask scheduler --port 8786 starts one; then dask worker tcp://HOST:8786 --nthreads 32",
        ) from error
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{address!r} is not the address of a Dask scheduler", hint="--dask tcp://127.0.0.1:8786"
        ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the words of distributed and its event loop on stderr."""
    import warnings

    loggers = [logging.getLogger(name) for name in ("distributed.client", "tornado.application")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
