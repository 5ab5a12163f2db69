"""`seal stamp`, `upgrade`, `verify FILE…`, `headers update` from the outside, over HTTP on the loopback."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from timestamps_cli import DATA, one_line, regtest_settings

from sealbench import store
from sealbench.testing.calendar import CalendarServer
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import MAINNET
from tests.conftest import Seal
from tests.workshop import sealed


@pytest.fixture
def server(configure: Callable[[str], None]) -> Iterator[CalendarServer]:
    with CalendarServer() as running:
        configure(regtest_settings(running.url))
        yield running


def test_the_whole_way_of_two_files(seal: Seal, server: CalendarServer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b c.txt").write_text("b")
    done = seal("stamp", "a.txt", "b c.txt", cwd=tmp_path)
    assert done.code == 0
    assert done.out.splitlines() == ["stamped a.txt.ots", "stamped b c.txt.ots"]
    assert f"promised by {server.url}" in done.err and "next: seal upgrade" in done.err
    assert len({hashlib.sha256(path.read_bytes()).digest() for path in tmp_path.glob("*.ots")}) == 2

    early = seal("upgrade", "a.txt", "b c.txt.ots")
    assert early.code == 3
    assert "0 of 2 proofs complete" in early.out and "not yet" in early.err
    pending = seal("verify", "a.txt", "b c.txt", "--network", "regtest")
    assert pending.code == 3
    assert "2 files: 2 pending" in pending.out and "next: seal upgrade a.txt 'b c.txt'" in pending.err

    height = server.mine()
    complete = seal("upgrade", "a.txt", "b c.txt")
    assert complete.code == 0, complete
    assert "2 of 2 proofs complete" in complete.out and f"block {height} of regtest" in complete.out
    verified = seal("verify", ".", "--network", "regtest")
    assert verified.code == 0, verified
    assert "2 files: 2 anchored" in verified.out
    assert "proves nothing about time" in verified.out and "block 1: chained" in verified.out

    # What regtest anchors is nothing on mainnet, and no regtest explorer is asked about mainnet.
    other = seal("verify", ".")
    assert other.code == 4
    assert "the configured sources are for regtest" in other.err
    (tmp_path / "a.txt").write_text("x")
    changed = seal("verify", "a.txt", "--network", "regtest")
    assert changed.code == 1 and "not for this one" in changed.out
    assert seal("upgrade", "a.txt").code == 1


def test_several_calendars_two_operators(
    seal: Seal, server: CalendarServer, configure: Callable[[str], None], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    dead = "http://127.0.0.1:1"
    configure(regtest_settings(server.url, dead))
    done = seal("stamp", "a.txt", "--json", cwd=tmp_path)
    assert done.code == 0
    report = json.loads(done.out)
    assert report["answered"] == [server.url]
    assert [one["calendar"] for one in report["failed"]] == [dead]
    again = seal("stamp", "a.txt")
    assert again.code == 2 and "hint: seal upgrade a.txt" in again.err
    (tmp_path / "b.txt").write_text("b")
    configure(regtest_settings(server.url).replace("operators = 1", "operators = 2"))
    few = seal("stamp", "b.txt")
    assert few.code == 4 and "1 of 2 calendar operators" in few.err
    assert not (tmp_path / "b.txt.ots").exists()


def test_one_bad_proof_costs_only_itself(seal: Seal, server: CalendarServer, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
    assert seal("stamp", "a", "b", "c", cwd=tmp_path).code == 0
    (tmp_path / "b.ots").write_bytes(b"garbage")
    server.mine()
    done = seal("upgrade", "a", "b", "c")
    assert done.code == 1
    assert "2 of 3 proofs complete" in done.out
    assert one_line(done, "b: ").startswith("b: not a valid OpenTimestamps proof: Expected magic bytes")
    assert (tmp_path / "b.ots").read_bytes() == b"garbage"
    (tmp_path / "d.ots").write_bytes((tmp_path / "a.ots").read_bytes())
    found = seal("verify", ".", "--network", "regtest", "--json")
    assert found.code == 1
    report = json.loads(found.out)
    assert report["verdict"] == "fail"
    assert [one["status"] for one in report["files"]] == ["anchored", "unreadable", "anchored", "unreadable"]


def test_explorers_that_disagree_are_shown_both(
    seal: Seal, server: CalendarServer, configure: Callable[[str], None], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert seal("stamp", "a.txt", cwd=tmp_path).code == 0
    server.mine()
    with CalendarServer() as other:
        other.calendar.chain.mine(7)
        assert seal("upgrade", "a.txt").code == 0
        configure(regtest_settings(server.url, explorers=[server.url, other.url]))
        done = seal("verify", "a.txt", "--network", "regtest")
        assert done.code == 1
        assert "two different headers for block" in done.err
        assert server.url in done.err and other.url in done.err
        upgraded = seal("upgrade", "a.txt")
        assert upgraded.code == 1 and "two different headers for block" in upgraded.err


def test_a_workspace_is_upgraded_and_status_says_what_waits(seal: Seal, tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "workspace")
    with CalendarServer() as server:
        text = workspace.settings.read_text().replace(
            '["http://127.0.0.1:1"]', f'["{server.url}"]\nexplorers = ["{server.url}"]'
        )
        assert server.url in text
        workspace.settings.write_text(text)
        assert seal("status", cwd=workspace.root).code == 3
        assert seal("stamp").code == 0
        waiting = seal("status")
        assert waiting.code == 3 and "promised, not in a block yet" in waiting.out
        early = seal("upgrade")
        assert early.code == 3 and early.out.count(": pending") == len(early.out.splitlines()) - 1 > 1
        server.mine()
        done = seal("upgrade", "--json")
        assert done.code == 0
        report = json.loads(done.out)
        assert all(one["complete"] and not one["fault"] for one in report["files"])
        assert report["headers"] == 8 and report["disagreement"] is None
        assert seal("status").code == 0
        # A job that runs every hour tells what is new.
        complete = f"{len(report['files'])} of {len(report['files'])} proofs complete"
        assert seal("upgrade").out.splitlines() == [complete]
        assert len(seal("upgrade", "--every").out.splitlines()) == len(report["files"]) + 1
        stored = HeaderStore.from_bytes((workspace.root / "commitments" / "headers.bin").read_bytes())
    # The server is gone: the workspace carries the headers, for a file of it named alone too.
    alone = seal("verify", "commitments/primes.json", "--network", "regtest")
    assert alone.code == 0 and "commitments/primes.json.ots: anchored in block 1 of regtest" in alone.out
    checkpoint = seal("verify", "commitments/checkpoints/1.json", "--network", "regtest")
    assert checkpoint.code == 0 and "block 1: chained" in checkpoint.out
    assert stored == server.chain.headers()


def test_public_explorers_are_not_asked_about_regtest(
    seal: Seal, configure: Callable[[str], None], tmp_path: Path
) -> None:
    shutil.copytree(DATA / "regtest", tmp_path / "regtest", ignore=shutil.ignore_patterns("*.json"))
    configure('network = "regtest"\n')
    done = seal("verify", "battery-1.txt", "--network", "regtest", "--json", cwd=tmp_path / "regtest")
    assert done.code == 4
    assert json.loads(done.out)["status"] == "needs header"
    assert seal("upgrade", "battery-1.txt").code == 0
    assert seal("verify", "regtest", "--network", "regtest", "--json", cwd=tmp_path).code == 4


def test_a_proof_that_cannot_be_written_is_no_waiting(
    seal: Seal, server: CalendarServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    assert seal("stamp", "a", "b", cwd=tmp_path).code == 0
    server.mine()
    real = store.replace

    def read_only(path: Path, data: bytes, **more: Any) -> None:
        if path.name == "a.ots":
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        real(path, data, **more)

    monkeypatch.setattr(store, "replace", read_only)
    before = (tmp_path / "a.ots").read_bytes()
    done = seal("upgrade", "a", "b")
    assert done.code == 2
    assert one_line(done, "a: ") == "a: a.ots: cannot be written (Read-only file system)"
    assert "1 of 2 proofs complete" in done.out
    assert (tmp_path / "a.ots").read_bytes() == before
    assert seal("upgrade", "b").code == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a folder nobody can write to")
def test_folders_that_cannot_be_written(seal: Seal, server: CalendarServer) -> None:
    done = seal("stamp", "/proc/version")
    assert done.code == 2
    assert "/proc: cannot be written" in done.err and "copy the file" in done.err
    assert server.calendar.mine() is None  # nothing was submitted before that was found out


def test_the_command_line_without_a_source(
    seal: Seal, configure: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = seal("headers", "update", "--from", "core", cwd=tmp_path)
    assert core.code == 2 and "core_rpc is not configured" in core.err
    configure('[timestamps]\nexplorers = ["http://127.0.0.1:1"]\n')
    dead = seal("headers", "update", "--from", "explorer")
    assert dead.code == 4 and "no source gave further headers" in dead.err
    configure('network = "regtest"\n')
    regtest = seal("headers", "update")
    assert regtest.code == 2 and "regtest has no checkpoint table" in regtest.err
    configure("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "configuration" / "sealbench" / "config.toml"))
    blocked = seal("headers", "update")
    assert blocked.code == 4
    assert "cannot be written" in blocked.err and "set XDG_DATA_HOME" in blocked.err


def test_up_to_date_is_no_error(seal: Seal, configure: Callable[[str], None], tmp_path: Path) -> None:
    class Tip(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = str(MAINNET.checkpoints.last_height + 2000).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Tip)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        configure(f'[timestamps]\nexplorers = ["http://127.0.0.1:{server.server_address[1]}"]\n')
        done = seal("headers", "update", cwd=tmp_path)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert done.code == 0, done
    assert f"nothing newer: checkpoints reach block {MAINNET.checkpoints.last_height}" in done.out
    assert "try again" not in done.err
    assert not list((tmp_path / "data").rglob("*.bin"))
