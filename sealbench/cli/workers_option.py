"""The option `--dask`, and the connection that commands open for it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console

if TYPE_CHECKING:
    from sealbench.workers.dask_cluster import DaskCluster

dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    default=None,
    help="Spread the work over the workers of this Dask scheduler (tcp://host:8786).",
)


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def dask_cluster(console: Console, address: str | None) -> Iterator[DaskCluster | None]:
    """The cluster at the address while the block runs; None where no address is given."""
    if address is None:
        yield None
        return
    from sealbench.workers.dask_cluster import DaskCluster

    with DaskCluster(address, on_note=console.note) as cluster:
        yield cluster
