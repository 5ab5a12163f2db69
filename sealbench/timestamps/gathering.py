"""Wait for several things at once, and leave none of them running if one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(awaitables: Iterable[Awaitable[T]]) -> list[T]:
    """All results in order. All are waited for; then the first failure, if any, is raised."""
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    good: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        good.append(result)
    return good
