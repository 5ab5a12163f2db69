"""How many calls at a time an endpoint gets: the command line, its own number, that of `[run]`, 16."""

from __future__ import annotations

import pytest

from sealbench.config import Settings
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.running.ready_endpoints import (
    idle_places,
    running_endpoints,
    thaw_endpoint,
    thaw_endpoints,
)

PLAIN = {"provider": "openai", "model": "m"}


@pytest.mark.parametrize(
    ("own", "of_run", "asked", "found"),
    [
        (None, None, None, 16),
        (None, 40, None, 40),
        (None, 3, None, 3),
        (64, None, None, 64),  # not lowered to the 16 that nobody wrote
        (2, 40, None, 2),
        (64, 3, None, 64),
        (None, None, 64, 64),
        (2, 40, 100, 100),
        (64, 40, 1, 1),
    ],
)
def test_the_nearest_number_counts(
    own: int | None, of_run: int | None, asked: int | None, found: int
) -> None:
    table = PLAIN if own is None else {**PLAIN, "max_connections": own}
    settings = Settings(endpoints={"e": table})
    if of_run is not None:
        settings = Settings(endpoints={"e": table}, max_connections=of_run)
    frozen = freeze_endpoint("e", settings.endpoints)
    assert thaw_endpoint(frozen, settings, asked).limits.max_connections == found


def test_other_limits_stay() -> None:
    settings = Settings(endpoints={"e": {**PLAIN, "requests_per_minute": 7}}, max_connections=3)
    limits = thaw_endpoint(freeze_endpoint("e", settings.endpoints), settings).limits
    assert (limits.max_connections, limits.requests_per_minute) == (3, 7)


def test_an_endpoint_without_a_table_takes_what_the_run_takes() -> None:
    frozen = [freeze_endpoint("reference/solver", {})]
    with running_endpoints(frozen, Settings(max_connections=5)) as found:
        assert found["reference/solver"].limits.max_connections == 5
    with running_endpoints(frozen, Settings(max_connections=5), 50) as found:
        assert found["reference/solver"].limits.max_connections == 50


@pytest.mark.parametrize(
    ("places", "told"), [(32, ""), (33, "--max-connections 17"), (128, "--max-connections 64")]
)
def test_workers_that_would_stand_idle_are_mentioned(places: int, told: str) -> None:
    settings = Settings(endpoints={"a": PLAIN, "b": PLAIN})
    frozen = [freeze_endpoint(name, settings.endpoints) for name in ("a", "b")]
    said = idle_places(thaw_endpoints(frozen, settings), places)
    assert said.endswith(told) and bool(said) == bool(told)


def test_no_endpoints_leave_nobody_idle() -> None:
    assert idle_places({}, 5) == ""
