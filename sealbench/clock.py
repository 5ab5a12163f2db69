"""The one source of time: UTC, aware, and replaceable by anyone who calls a stage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The machine's time in UTC."""
    return datetime.now(UTC)
