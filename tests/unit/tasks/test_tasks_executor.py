"""Instances drawn by an executor: byte for byte the battery that one process draws."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from sealbench.errors import UsageError
from sealbench.formats.battery import FamilyParameters
from sealbench.stages.create import complete_parameters, create
from sealbench.stages.init import init
from sealbench.tasks import battery
from sealbench.tasks.base import Instance, Slot
from sealbench.tasks.battery import build_items

SECRET = bytes(range(32))


class Listening(ThreadPoolExecutor):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__(2)
        self.given: list[str] = []

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.given.append(repr(args))
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("families", [["primality"], ["subset_sum", "digit_sum_parity"]])
def test_the_same_items_in_the_same_order(families: Sequence[str]) -> None:
    parameters = complete_parameters(families, 40, (), ("plain",))
    made: list[int] = []
    alone = build_items(SECRET, parameters)
    with ThreadPoolExecutor(2) as threads:
        spread = build_items(SECRET, parameters, executor=threads, on_instance=lambda: made.append(1))
    assert spread == alone
    assert len(made) == len(alone)


def test_processes_draw_the_same_as_this_one() -> None:
    parameters = complete_parameters(["primality"], 70, (), ("plain",))
    executor: Executor
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert build_items(SECRET, parameters, executor=executor) == build_items(SECRET, parameters)


def test_a_problem_drawn_twice_is_drawn_anew_as_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow ranges: many slots first draw a problem that is there already."""
    parameters = complete_parameters(["primality"], 40, ("digits=3",), ("plain",))
    redrawn: list[str] = []
    draw_new = battery._draw_new

    def noted(family, slot: Slot, chosen: FamilyParameters, stream, seen) -> Instance:  # type: ignore[no-untyped-def]
        redrawn.append(slot.kind)
        return draw_new(family, slot, chosen, stream, seen)

    alone = build_items(SECRET, parameters)
    monkeypatch.setattr(battery, "_draw_new", noted)
    with ThreadPoolExecutor(2) as threads:
        assert build_items(SECRET, parameters, executor=threads) == alone
    assert redrawn


def test_ranges_too_narrow_are_refused_in_the_same_words() -> None:
    parameters = complete_parameters(["primality"], 400, ("digits=3",), ("plain",))
    with pytest.raises(UsageError) as alone:
        build_items(SECRET, parameters)
    with ThreadPoolExecutor(2) as threads, pytest.raises(UsageError) as spread:
        build_items(SECRET, parameters, executor=threads)
    assert spread.value.message == alone.value.message


def test_k_never_goes_to_the_executor(tmp_path: Path) -> None:
    workspace = init(tmp_path / "w", network="regtest", calendars=()).workspace
    with Listening() as executor:
        create(workspace, ["primality"], name="primes", per_class=3, executor=executor)
    secret = workspace.battery_key("primes").read_text().split('"secret":"')[1].split('"')[0]
    assert executor.given
    assert all(secret not in one and repr(bytes.fromhex(secret)) not in one for one in executor.given)
