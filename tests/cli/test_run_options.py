"""Options of `seal run`: budgets, dry run, status, waiting, resuming without a name, response ids."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest

from sealbench.config import load
from sealbench.stages.init import init
from sealbench.stages.stamp import stamp
from sealbench.testing.calendar import CalendarServer
from sealbench.testing.server import ReferenceServer
from tests.cli.run_support import all_bytes, configure, log_of
from tests.conftest import Seal
from tests.workshop import planned, sealed

PRICED = """
[endpoints.sol]
provider = "reference"
model = "constant"
base_url = "{url}"
price = {{ input = 1.0, output = 10.0 }}
"""


def test_a_budget_of_calls_ends_with_exit_3_and_the_resume_command(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace", repeats=3)
    first = seal("run", "--max-calls", "5", "--no-stamp", cwd=workspace.root)
    assert first.code == 3
    assert len(log_of(workspace.root)) == 5
    assert "the budget of this command" in first.err
    assert "next: seal run plan (7 calls are left)" in first.err
    done = json.loads(seal("run", "--json", "--no-stamp", cwd=workspace.root).out)
    assert (done["done_now"], done["done"], done["ended"], done["resume"]) == (7, 12, True, None)


def test_budgets_of_tokens_and_usd_are_never_exceeded(tmp_path: Path, seal: Seal) -> None:
    with ReferenceServer() as server:
        workspace, _ = planned(tmp_path / "workspace", endpoints=(f"{server.url}#constant",), repeats=30)
        tokens = json.loads(seal("run", "--max-tokens", "3000", "--json", "--no-stamp").out)
        assert 2000 < tokens["tokens"] <= 3000
        assert tokens["budget_exhausted"]
        configure(workspace.root, PRICED.format(url=server.url))
        pilot = ("run", "primes", "--exploratory", "--cap", "300", "--endpoint", "sol", "--repeats", "30")
        spent = seal(*pilot, "--budget", "0.02", "--json")
        value = json.loads(spent.out)
    assert spent.code == 3
    assert 0.01 < float(value["usd"]) <= 0.02
    assert value["resume"] == "seal run primes-exploratory-1"


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")


def test_a_budget_in_usd_without_a_price_is_refused_before_anything_is_begun(
    tmp_path: Path, seal: Seal
) -> None:
    workspace, _ = planned(tmp_path / "workspace", endpoints=("http://127.0.0.1:9/v1#m",))
    refused = seal("run", "--budget", "5", cwd=workspace.root)
    assert refused.code == 2
    assert "has no price" in refused.err
    assert not (workspace.root / "runs" / "plan-1").exists()
    assert seal("run", "--budget", "-1").code == 2


def test_a_missing_key_is_an_error_before_anything_is_begun(
    tmp_path: Path, seal: Seal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    workspace, _ = planned(tmp_path / "workspace", endpoints=("openai/gpt-5.5",))
    before = all_bytes(workspace.root)
    for arguments in (
        ("run",),
        ("run", "primes", "--exploratory", "--cap", "9", "--endpoint", "openai/gpt-5.5"),
    ):
        result = seal(*arguments, cwd=workspace.root)
        assert result.code == 4
        assert "export OPENAI_API_KEY" in result.err
    assert all_bytes(workspace.root) == before


def test_dry_run_says_exactly_what_the_run_then_does(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace", caps=(300, 4000), repeats=2)
    before = all_bytes(workspace.root)
    said = json.loads(seal("run", "--dry-run", "--json", "--no-stamp", cwd=workspace.root).out)
    assert all_bytes(workspace.root) == before
    assert (said["calls"], said["planned"], said["begun"]) == (16, 16, False)
    assert said["endpoints"][0]["answer_token_ceiling"] == 8 * 4300
    existing = {path for path in workspace.root.rglob("*") if path.is_file()}
    assert seal("run", "--no-stamp").code == 0
    fresh = {path for path in workspace.root.rglob("*") if path.is_file()} - existing
    written = {path.relative_to(workspace.root).as_posix() for path in fresh} - {
        f".seal/runs/{said['run']}/lock"
    }
    assert written == set(said["files"]) - {"commitments/registry.jsonl", "commitments/files.json"}
    prompts = sum(line.prompt_tokens or 0 for line in log_of(workspace.root))
    assert prompts <= said["endpoints"][0]["prompt_token_ceiling"]
    over = json.loads(seal("run", "plan", "--dry-run", "--json").out)
    assert (over["calls"], over["files"]) == (0, [])


def test_dry_run_of_parts_rests_and_pilots(tmp_path: Path, seal: Seal) -> None:
    endpoints = ("reference/solver", "http://127.0.0.1:9/v1#nobody-is-there")
    workspace, _ = planned(tmp_path / "workspace", endpoints=endpoints, caps=(300, 4000))
    part = ("run", "--cap", "300", "--endpoint", "reference/solver", "--no-stamp")
    assert "4 calls (0 of 16 done)" in seal(*part, "--dry-run", cwd=workspace.root).out
    assert seal(*part).code == 3
    rest = seal("run", "--dry-run")
    assert "goes on run plan-1: 12 calls (4 of 16 done)" in rest.out
    assert "run.json" not in rest.out
    pilot = ("run", "primes", "--exploratory", "--cap", "50", "--endpoint", endpoints[1], "--dry-run")
    shown = seal(*pilot)
    assert (shown.code, "EXPLORATORY run primes-exploratory-1: 4 calls" in shown.out) == (0, True)
    assert not (workspace.root / "runs" / "primes-exploratory-1").exists()
    assert seal("run", "--cap", "77", "--dry-run").code == 2


def test_status_by_endpoint_and_cap(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace", caps=(300, 4000))
    assert "no run was begun" in seal("run", "--status", cwd=workspace.root).out
    seal("run", "--cap", "300", "--no-stamp")
    before = all_bytes(workspace.root)
    status = seal("run", "--status", "--json")
    assert all_bytes(workspace.root) == before
    assert status.code == 3
    found = json.loads(status.out)["runs"][0]
    low, high = found["lines"]
    lines = log_of(workspace.root)
    assert (low["done"], low["planned"], low["errors"]) == (4, 4, 0)
    assert low["cut"] == sum(line.censored for line in lines) > 0
    assert low["charged_tokens"] == sum(line.charged_tokens or 0 for line in lines)
    assert (high["done"], high["planned"], high["usd"]) == (0, 4, None)
    torn = workspace.root / "runs" / "plan-1" / "log.jsonl"
    torn.write_bytes(torn.read_bytes() + b'{"torn')
    assert json.loads(seal("run", "plan", "--status", "--json").out)["runs"][0]["done"] == 4
    assert seal("run", "--no-stamp").code == 0
    assert "8 of 8 calls, ended" in seal("run", "plan-1", "--status").out
    assert seal("run", "nothing", "--status").code == 3


def test_the_only_unfinished_run_is_resumed_without_a_name(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace", repeats=2)
    pilot = ("run", "primes", "--exploratory", "--endpoint", "reference/constant", "--max-calls", "1")
    assert seal(*pilot, "--cap", "300", cwd=workspace.root).code == 3
    resumed = seal("run")
    assert "going on with primes-exploratory-1" in resumed.err
    assert "EXPLORATORY run primes-exploratory-1: 4 of 4" in resumed.out
    assert seal(*pilot, "--cap", "301").code == 3
    assert seal("run", "plan", "--max-calls", "1", "--no-stamp").code == 3
    both = seal("run")
    assert both.code == 3
    assert "primes-exploratory-2, plan-1" in both.err
    assert seal("run", "primes-exploratory-2").code == 0
    assert seal("run", "--no-stamp").code == 0
    assert "nothing is left to call" in seal("run", "primes-exploratory-2").err


def _unconfirmed(root: Path, calendar: CalendarServer) -> None:
    """A workspace whose commitment and plan are stamped and in no block yet."""
    from sealbench.stages.create import create
    from sealbench.stages.preregister import preregister
    from tests.workshop import PLAN

    workspace = init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,)).workspace
    settings = load(workspace.settings)
    create(workspace, ["primality"], name="primes", per_class=2)
    source = root / "plan.toml"
    source.write_text(
        PLAN.format(
            endpoints='["reference/constant"]', caps=[300], repeats=1, first="reference/constant", cap=300
        )
    )
    preregister(workspace, "primes", plan="plan", source=source, settings=settings, force=True)
    stamp(workspace, settings)


def test_wait_looks_until_confirmed_and_then_runs(tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    with CalendarServer() as calendar:
        _unconfirmed(root, calendar)
        assert seal("run", "--no-stamp", cwd=root).code == 3
        gave_up = seal("run", "--wait", "--wait-hours", "0", "--wait-every", "0.05", "--no-stamp")
        assert (gave_up.code, "gave up after waiting" in gave_up.err) == (3, True)
        timer = threading.Timer(0.4, calendar.mine)
        timer.start()
        waited = seal("run", "--wait", "--wait-every", "0.1", "--no-stamp")
        timer.join()
    assert waited.code == 0, waited.err
    assert "waiting: " in waited.err
    assert "4 of 4 calls" in waited.out


def test_wait_does_not_wait_for_what_was_never_stamped(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace")
    (workspace.root / "preregistrations" / "plan.json.ots").unlink()
    result = seal("run", "--wait", cwd=workspace.root)
    assert (result.code, "never been stamped" in result.err) == (3, True)


def test_audit_ids_are_checked_against_the_log(tmp_path: Path, seal: Seal) -> None:
    with ReferenceServer() as server:
        workspace, _ = planned(tmp_path / "workspace", endpoints=(f"{server.url}#constant",))
        assert seal("run", "--no-stamp", cwd=workspace.root).code == 0
    found = json.loads(seal("run", "--audit-ids", "--json").out)
    assert [one["line"] for one in found["ids"]] == [1, 2, 3, 4]
    assert {one["response_id"] for one in found["ids"]} == {f"chatcmpl-reference-{n}" for n in (1, 2, 3, 4)}
    text = seal("run", "plan-1", "--audit-ids")
    assert re.search(r"^1\thttp://127\.0\.0\.1:\d+/v1#constant\t\S+Z\tchatcmpl-reference-", text.out)
    stored = workspace.private_run("plan-1") / "responses.jsonl"
    stored.write_bytes(
        stored.read_bytes().replace(b'_id":"chatcmpl-reference-1"', b'_id":"chatcmpl-reference-9"')
    )
    forged = seal("run", "--audit-ids")
    assert (forged.code, "line" in forged.err) == (1, True)


def test_options_that_contradict_each_other(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = sealed(tmp_path / "workspace")
    for arguments in (
        ("--status", "--dry-run"),
        ("--batch", "read"),
        ("--batch-file", str(workspace.settings)),
        ("--exploratory",),
        ("--probe",),
        ("--cap", "0"),
    ):
        result = seal("run", *arguments, cwd=workspace.root)
        assert result.code == 2, arguments
        assert "seal: hint:" in result.err
