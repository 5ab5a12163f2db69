"""Costly checks by other processes: the same results, in the same order, whoever computes them."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from sealbench.errors import CheckFailed
from sealbench.stages.verify import make_policy, verify_workspace
from sealbench.verification import verifier
from sealbench.verification.evidence import Evidence
from sealbench.verification.memo import Elsewhere, Memo, compute
from sealbench.verification.steps import Results
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from sealbench.workers.processes import processes


class Pickling(Executor):
    """What another process gets is a copy, and so is what it gives back."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.asked: list[str] = []
        self._threads = threads

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.asked.append(args[0].__name__)
        work = pickle.dumps((fn, args, kwargs))
        return self._threads.submit(_apply, work)


def _apply(work: bytes) -> Any:
    function, arguments, options = pickle.loads(work)  # noqa: S301  # made two lines above
    return pickle.loads(pickle.dumps(function(*arguments, **options)))  # noqa: S301


class Dying(Executor):
    """None of its processes lives long enough to answer."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(OSError("the process died"))
        return future


def test_every_costly_check_is_given_away_and_nothing_changes(demo_folder: Path) -> None:
    tree = PublicTree.from_folder(demo_folder)
    policy = make_policy(network="regtest")
    alone = Verifier(policy).verify(tree)
    with ThreadPoolExecutor(3) as threads:
        others = Pickling(threads)
        together = Verifier(policy, Elsewhere(others, 3)).verify(tree)
    assert together == alone
    assert alone.verdict == "ok"
    assert {
        "check_opening",
        "check_draws",
        "check_baselines",
        "check_certificates",
        "check_part",
        "recompute_report",
        "recompute_deviations",
    } == set(others.asked)


@pytest.mark.parametrize("pattern", ["runs/*/report.json", "runs/*/log.jsonl", "batteries/*/battery.json"])
def test_what_is_false_is_false_in_the_same_words(demo_folder: Path, pattern: str) -> None:
    tree = PublicTree.from_folder(demo_folder)
    chosen = next(path for path in tree.paths() if fnmatch(path, pattern))
    data = tree.get(chosen)
    assert data is not None
    damaged = tree.with_file(chosen, data.replace(b'":"', b'":"x', 1))
    policy = make_policy(network="regtest")
    alone = Verifier(policy).verify(damaged)
    with ThreadPoolExecutor(3) as threads:
        together = Verifier(policy, Elsewhere(Pickling(threads), 3)).verify(damaged)
    assert alone.verdict == "fail"
    assert together == alone


def test_a_process_that_dies_is_replaced_by_this_one(demo_folder: Path) -> None:
    tree = PublicTree.from_folder(demo_folder)
    policy = make_policy(network="regtest")
    assert Verifier(policy, Elsewhere(Dying(), 2)).verify(tree) == Verifier(policy).verify(tree)


def test_real_processes_say_the_same_as_one(demo_folder: Path) -> None:
    policy = make_policy(network="regtest")
    alone = verify_workspace(demo_folder, policy=policy)
    with processes(2) as executor:
        assert executor is not None
        together = verify_workspace(demo_folder, policy=policy, jobs=2, executor=executor)
    assert together == alone


def test_without_processes_this_one_does_it_all(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def none(_: int) -> Iterator[None]:
        yield None

    policy = make_policy(network="regtest")
    alone = verify_workspace(demo_folder, policy=policy)
    monkeypatch.setattr("sealbench.stages.verify._BYTES_EACH", 1)
    monkeypatch.setattr("sealbench.stages.verify.processes", none)
    assert verify_workspace(demo_folder, policy=policy, jobs=2) == alone


def test_a_bundle_by_itself_is_given_away_too(demo_folder: Path) -> None:
    bundle, policy = demo_folder / "batteries" / "primes", make_policy(network="regtest")
    alone = verify_workspace(bundle, policy=policy)
    with ThreadPoolExecutor(2) as threads:
        others = Pickling(threads)
        assert verify_workspace(bundle, policy=policy, jobs=2, executor=others) == alone
    assert {"check_draws", "check_part", "recompute_report"} <= set(others.asked)


def test_errors_come_back_as_they_were_raised() -> None:
    with processes(1) as executor:
        assert executor is not None
        memo = Memo(elsewhere=Elsewhere(executor, 1))
        for _ in range(2):
            with pytest.raises(CheckFailed) as caught:
                memo.costly(refuse, "this")
            assert (caught.value.message, caught.value.hint) == ("this", "that")
        assert memo.costly(os.getpid) != os.getpid()
        assert memo.call(os.getppid) == os.getppid()


def test_a_memo_among_the_arguments_is_the_other_process_s_own() -> None:
    memo = Memo()
    memo.call(len, b"abc")
    copy = pickle.loads(pickle.dumps(memo))  # noqa: S301
    assert copy is not memo
    assert copy is pickle.loads(pickle.dumps(memo))  # noqa: S301


def test_subjects_keep_their_order_and_several_are_checked_at_a_time() -> None:
    together = threading.Barrier(2, timeout=10)

    def check(number: int) -> int:
        if number < 2:
            together.wait()
        return -number

    assert list(Memo(elsewhere=Elsewhere(Dying(), 1)).each(check, range(6))) == [0, -1, -2, -3, -4, -5]
    assert list(Memo().each(abs, [-2, 1])) == [2, 1]


def test_bugs_are_raised_and_not_remembered() -> None:
    with pytest.raises(ZeroDivisionError):
        compute(divmod, (1, 0))
    memo = Memo(elsewhere=Elsewhere(Dying(), 1))
    with pytest.raises(ZeroDivisionError):
        memo.costly(divmod, 1, 0)


class Silent(Executor):
    """Takes everything and never answers, as one that was closed."""

    def __init__(self) -> None:
        self.asked: queue.Queue[Future[Any]] = queue.Queue()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.asked.put(future)
        return future


def test_an_interrupt_waits_for_nobody_and_nothing_is_computed_here_instead(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent, computed = Silent(), list[str]()

    def interrupted(_: Evidence) -> Results:
        silent.asked.put(silent.asked.get(timeout=60))  # once something costly waits for an answer
        raise KeyboardInterrupt

    def counted(function: Any, arguments: Any) -> Any:
        computed.append(function.__name__)
        return compute(function, arguments)

    before = set(threading.enumerate())
    monkeypatch.setitem(verifier.CHECKS, 1, interrupted)
    monkeypatch.setattr("sealbench.verification.memo.compute", counted)
    with pytest.raises(KeyboardInterrupt):
        Verifier(make_policy(network="regtest"), Elsewhere(silent, 2)).verify(
            PublicTree.from_folder(demo_folder)
        )
    for _ in range(6000):
        if not set(threading.enumerate()) - before:
            break
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before
    assert not {"check_draws", "check_certificates", "check_part", "recompute_report"} & set(computed)


def refuse(what: str) -> None:
    raise CheckFailed(what, hint="that")
