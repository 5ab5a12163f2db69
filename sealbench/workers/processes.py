"""Processes of this machine that share computations."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """An executor of so many fresh processes, gone when the block ends.

    Fresh ones, not forked: a fork copies whatever threads and locks the caller happens to have.
    """
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as executor:
        yield executor
