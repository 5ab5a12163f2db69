"""Missing evidence is never OK: what is pending, what is not checked, what is not due, and why."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from forgery import reforge, relist

from sealbench.crypto.signature import AuthorKey
from sealbench.errors import UsageError
from sealbench.formats.registry import RegistryLine
from sealbench.formats.report import Report
from sealbench.store import FILES, HEADERS, REGISTRY
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification import battery as battery_module
from sealbench.verification.policy import Policy
from sealbench.verification.roles import role_of
from sealbench.verification.steps import StepResult
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier


def of(steps: tuple[StepResult, ...], subject: str) -> StepResult:
    return next(one for one in steps if one.subject == subject)


def without(tree: PublicTree, *paths: str) -> PublicTree:
    return relist(tree.with_files(dict.fromkeys(paths)))


def test_never_stamped_is_pending(verifier: Verifier, lenient: Verifier, tree: PublicTree) -> None:
    changed = without(tree, "commitments/pairs.json.ots")
    result = verifier.verify(changed)
    assert (result.verdict, result.exit_code) == ("pending", 3)
    assert "never stamped" in of(result.step(4), "commitments/pairs.json").detail
    assert of(result.step(9), "runs/pairs-plan-1/run.json").status == "pending"
    assert lenient.verify(changed).verdict == "ok_except_time"


def test_nothing_stamped_is_one_step_that_waits(verifier: Verifier, tree: PublicTree) -> None:
    proofs = [path for path in tree.paths() if path.endswith(".ots") and role_of(path).kind != "copy"]
    result = verifier.verify(without(tree, *proofs))
    assert [one.status for one in result.step(3)] == ["not_due"]
    waiting = {one.subject for one in result.step(4)}
    assert waiting == {path.removesuffix(".ots") for path in proofs}
    assert {one.status for one in result.step(4)} == {"pending"}
    assert {one.step for one in result.steps if one.status not in ("ok", "not_due")} == {4, 9}


def test_missing_headers_are_not_checked(verifier: Verifier, tree: PublicTree) -> None:
    result = verifier.verify(without(tree, HEADERS))
    assert (result.verdict, result.exit_code) == ("unchecked", 4)
    found = of(result.step(4), "commitments/pairs.json.ots")
    assert (found.status, found.grade) == ("not_checked", "needs header")
    assert of(result.step(9), "runs/pairs-plan-1/run.json").status == "not_checked"


def test_the_verifiers_own_headers_do_as_well(tree: PublicTree) -> None:
    headers = HeaderStore.from_bytes(tree.get(HEADERS) or b"")
    own = Verifier(Policy(network="regtest", headers=headers))
    assert own.verify(without(tree, HEADERS)).verdict == "ok"
    assert own.verify(tree).verdict == "ok"


def test_headers_that_disagree_with_the_verifiers_own(
    tree: PublicTree, stranger_headers: HeaderStore
) -> None:
    result = Verifier(Policy(network="regtest", headers=stranger_headers)).verify(tree)
    assert result.verdict == "fail"
    assert "against your own headers" in of(result.step(4), HEADERS).detail


@pytest.fixture
def stranger_headers() -> HeaderStore:
    from sealbench.testing.chain import RegtestChain

    chain = RegtestChain()
    chain.mine(8)
    return chain.headers()


def test_a_better_grade_can_be_asked_for(tree: PublicTree) -> None:
    result = Verifier(Policy(network="regtest", minimum_grade="checkpointed")).verify(tree)
    found = of(result.step(4), "commitments/pairs.json.ots")
    assert (result.verdict, found.status, found.grade) == ("unchecked", "not_checked", "chained")
    assert "wanted is checkpointed or better" in found.detail


def test_a_mainnet_workspace_under_regtests_rules(
    tree: PublicTree, author: AuthorKey, lenient: Verifier
) -> None:
    def relabel(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [lines[0].model_copy(update={"detail": {**lines[0].detail, "network": "mainnet"}}), *lines[1:]]

    result = lenient.verify(reforge(tree, author, change_lines=relabel))
    assert of(result.step(4), REGISTRY).status == "not_checked"
    assert "leave out" in of(result.step(4), REGISTRY).detail


def test_unknown_network_and_grade_are_refused() -> None:
    with pytest.raises(UsageError, match="no network 'moon'") as network:
        Policy(network="moon")
    assert "mainnet" in network.value.hint
    with pytest.raises(UsageError, match="no grade 'good'") as grade:
        Policy(minimum_grade="good")
    assert "proof-of-work" in grade.value.hint


def test_sealed_is_not_due_and_an_overdue_reveal_is_pending(tree: PublicTree) -> None:
    now = datetime.now(UTC)
    early = Verifier(Policy(network="regtest", at=now)).verify(tree)
    assert of(early.step(6), "commitments/pairs.json").status == "not_due"
    late = Verifier(Policy(network="regtest", at=now + timedelta(days=400))).verify(tree)
    found = of(late.step(6), "commitments/pairs.json")
    assert (late.verdict, found.status) == ("pending", "pending")
    assert "overdue" in found.detail
    # A battery without a plan has no deadline.
    assert of(late.step(6), "commitments/spare.json").status == "not_due"


def drop_event(event: str, subject: str) -> Any:
    def change(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [line for line in lines if (line.event, line.subject) != (event, subject)]

    return change


def test_unfinished_run_is_pending(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    pilot = "pairs-exploratory-1"
    result = lenient.verify(reforge(tree, author, change_lines=drop_event("run_end", pilot)))
    assert (result.verdict, result.failures) == ("pending", ())
    assert "not finished" in of(result.step(10), f"runs/{pilot}/log.jsonl").detail


def test_aborted_run_may_lack_calls(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    pilot = "pairs-exploratory-1"

    def shorten(files: dict[str, bytes]) -> None:
        path = f"runs/{pilot}/log.jsonl"
        files[path] = b"".join(line + b"\n" for line in files[path].split(b"\n")[:2])

    def abort(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [
            line.model_copy(update={"event": "run_abort", "detail": {"reason": "the money ran out"}})
            if (line.event, line.subject) == ("run_end", pilot)
            else line
            for line in lines
        ]

    result = lenient.verify(reforge(tree, author, shorten, change_lines=abort))
    assert result.verdict == "ok_except_time"
    found = of(result.step(10), f"runs/{pilot}/log.jsonl")
    assert "2 of 6 planned calls" in found.detail
    assert "the money ran out" in found.detail
    assert f"aborted: {pilot}" in result.step(8)[0].detail


@pytest.mark.parametrize("require", ["stamped", "registered"])
def test_run_that_waited_for_no_block_proves_no_order(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, require: str
) -> None:
    from forgery import edit

    from sealbench.formats.run import Run

    run = "runs/pairs-plan-1/run.json"
    result = lenient.verify(reforge(tree, author, edit(run, Run, require=require)))
    found = of(result.step(9), run)
    assert found.status == "not_checked"
    assert f"--require {require}" in found.detail


def test_a_family_of_another_version_is_not_checked(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealbench.tasks.base.get_family", lambda _: SimpleNamespace(version=99))
    result = Verifier(Policy(network="regtest")).verify(tree)
    assert result.verdict == "unchecked"
    found = of(result.step(6), "batteries/primes/battery.json")
    assert found.status == "not_checked"
    assert "installed in version 99" in found.detail
    assert of(result.step(7), "batteries/primes/battery.json").status == "not_checked"


def test_a_family_that_is_not_installed_is_not_checked(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> None:
        raise UsageError(f"there is no task family {name!r}")

    monkeypatch.setattr("sealbench.tasks.base.get_family", nothing)
    found = Verifier(Policy(network="regtest")).verify(tree)
    assert found.verdict == "unchecked"
    assert "primality is not installed" in of(found.step(6), "batteries/primes/battery.json").detail


def test_other_draws_from_another_source_are_not_called_false(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealbench.tasks.battery.build_items", lambda *_, **__: [])
    same = Verifier(Policy(network="regtest")).verify(tree)
    assert of(same.step(6), "batteries/primes/battery.json").status == "fail"
    monkeypatch.setattr(battery_module, "_same_source", lambda _: False)
    other = Verifier(Policy(network="regtest")).verify(tree)
    assert of(other.step(6), "batteries/primes/battery.json").status == "not_checked"


def test_a_report_of_another_analysis_version_is_not_checked(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By its module: the package exports a function of the same name.
    monkeypatch.setattr(importlib.import_module("sealbench.analysis.evaluate"), "ANALYSIS_VERSION", 99)
    result = Verifier(Policy(network="regtest")).verify(tree)
    assert result.verdict == "unchecked"
    assert "installed is 99" in of(result.step(11), "runs/pairs-plan-1/report.json").detail


def test_raw_responses_not_published(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    path = "batteries/primes/responses/primes-plan-1.jsonl"

    def drop(files: dict[str, bytes]) -> None:
        del files[path]

    def forget(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [
            line.model_copy(update={"files": tuple(file for file in line.files if file.path != path)})
            for line in lines
        ]

    result = lenient.verify(reforge(tree, author, drop, change_lines=forget))
    assert result.verdict == "unchecked"
    assert f"not published in {path}" in of(result.step(10), "runs/primes-plan-1/log.jsonl").detail


@pytest.mark.parametrize(
    "files", [{}, {FILES: b"{}"}, {REGISTRY: b""}, {REGISTRY: b"x\n"}, {REGISTRY: b"\xff"}]
)
def test_rubbish_is_a_verdict_not_an_exception(files: dict[str, bytes]) -> None:
    result = Verifier().verify(PublicTree(files))
    assert (result.verdict, result.exit_code) == ("fail", 1)
    assert {one.step for one in result.steps} == set(range(1, 13))


def test_a_workspace_just_begun_waits_for_its_stamp(tmp_path: Any) -> None:
    from sealbench.stages.init import init

    init(tmp_path / "new", network="regtest")
    result = Verifier(Policy(network="regtest")).verify(PublicTree.from_folder(tmp_path / "new"))
    assert (result.verdict, result.failures) == ("pending", ())
    for step in (5, 6, 7, 9, 10, 11, 12):
        assert [one.status for one in result.step(step)] == ["not_due"]


def test_answers_read_by_another_parser_are_not_checked(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealbench.tasks.answers.PARSER_VERSION", 99)
    result = Verifier(Policy(network="regtest")).verify(tree)
    found = of(result.step(10), "runs/primes-plan-1/log.jsonl")
    assert (result.verdict, found.status) == ("unchecked", "not_checked")
    assert "installed is sealbench-answers 99" in found.detail


def test_a_provider_that_is_not_installed_is_not_checked(
    tree: PublicTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealbench.endpoints.base.provider_names", lambda: ("openai",))
    found = of(Verifier(Policy(network="regtest")).verify(tree).step(10), "runs/primes-plan-1/log.jsonl")
    assert (found.status, "reference is not installed" in found.detail) == ("not_checked", True)


def test_a_report_cannot_make_its_verifier_work_for_hours(lenient: Verifier, tree: PublicTree) -> None:
    path = "runs/pairs-plan-1/report.json"
    report = Report.from_bytes(tree.get(path) or b"").model_copy(update={"time_limit": 10**9})
    found = of(lenient.verify(relist(tree.with_file(path, report.to_bytes()))).step(11), path)
    assert (found.status, "at most 120 s" in found.detail) == ("not_checked", True)
