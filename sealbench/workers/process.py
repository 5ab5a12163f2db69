"""What a worker says of itself before it is given anything: which process it is, and what it lacks."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sealbench import __version__

_IMPORTED = uuid.uuid4().hex


@dataclass(frozen=True)
class Greeting:
    """One worker process.

    `process` tells it from every other one, also from its own successor at the same address; `unset`
    are those of the variables asked about that hold nothing there. Values are never told.
    """

    process: str
    version: str
    unset: tuple[str, ...]


def this_process() -> str:
    """A name that no other process has; a forked child has another one than its parent."""
    return f"{_IMPORTED}-{os.getpid()}"


def greet(variables: Sequence[str]) -> Greeting:
    """Runs on the worker: who it is, and which of these environment variables it lacks."""
    unset = tuple(name for name in variables if not os.environ.get(name, "").strip())
    return Greeting(this_process(), __version__, unset)
