"""The built-in calendar and explorer over real loopback HTTP, end to end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from sealbench.errors import FormatError
from sealbench.http import new_client
from sealbench.testing.calendar import Calendar, CalendarServer
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.bitcoin import MAINNET, REGTEST, HeaderStore
from sealbench.timestamps.calendars import AnswerCache, SubmitResult, UpgradeResult, submit, upgrade
from sealbench.timestamps.check import check_file
from sealbench.timestamps.explorer import Explorer
from sealbench.timestamps.headers import complete_headers, refuse_mismatches

FILES = {Path(f"file-{index}.json"): b"contents %d" % index for index in range(5)}


async def stamp(server: CalendarServer, files: dict[Path, bytes]) -> SubmitResult:
    async with new_client() as client:
        return await submit(files, [server.url], minimum_operators=1, client=client)


async def upgrade_all(server: CalendarServer, proofs: dict[Path, bytes]) -> dict[Path, UpgradeResult]:
    cache = AnswerCache()
    async with new_client() as client:
        refuse = refuse_mismatches(HeaderStore(network="regtest"), [Explorer(server.url, client)], REGTEST)
        return {
            path: await upgrade(proof, whitelist=[server.url], client=client, cache=cache, refuse=refuse)
            for path, proof in proofs.items()
        }


async def fetch_headers(server: CalendarServer, height: int) -> HeaderStore:
    notes: list[str] = []
    async with new_client() as client:
        sources = [Explorer(server.url, client)]
        store = await complete_headers(HeaderStore(), [height], sources, REGTEST, note=notes.append)
    assert notes == []
    return store


def ots_info(path: Path) -> str:
    client = Path(sys.executable).with_name("ots")
    if not client.exists():
        pytest.skip("the reference client's command `ots` is not installed")
    done = subprocess.run([client, "info", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_stamp_mine_upgrade_verify(tmp_path: Path) -> None:
    with CalendarServer() as server:
        server.chain.mine(3)
        result = asyncio.run(stamp(server, FILES))
        assert (result.answered, result.failed) == ([server.url], [])
        early = asyncio.run(upgrade_all(server, result.proofs))
        for path, upgraded in early.items():
            assert not upgraded.changed
            assert not upgraded.complete
            assert upgraded.proof == result.proofs[path]
            assert upgraded.pending == [server.url]
            assert "Pending confirmation" in upgraded.notes[0]
            assert check_file(FILES[path], upgraded.proof, HeaderStore(), REGTEST).status() == "pending"
        height = server.mine()
        assert height == 4
        late = asyncio.run(upgrade_all(server, result.proofs))
        headers = asyncio.run(fetch_headers(server, height))
        assert headers.segments() == [(0, 11)]
        for index, (path, upgraded) in enumerate(late.items()):
            assert upgraded.changed
            assert upgraded.complete
            assert (upgraded.pending, upgraded.notes) == ([], [])
            report = check_file(FILES[path], upgraded.proof, headers, REGTEST, own=True)
            assert report.status() == "anchored"
            assert [(one.grade, one.height) for one in report.graded] == [("chained", 4)]
            assert report.only_sha256
            assert report.canonical
            assert check_file(FILES[path], upgraded.proof, headers, MAINNET).status() == "mismatch"
            if index == 0:
                written = tmp_path / "file.json.ots"
                written.write_bytes(upgraded.proof)
                text = ots_info(written)
                assert "BitcoinBlockHeaderAttestation(4)" in text
                assert "Transaction id" in text
        again = asyncio.run(upgrade_all(server, {path: one.proof for path, one in late.items()}))
        assert not any(one.changed for one in again.values())


def test_pending_proofs_are_read_by_the_reference_client(tmp_path: Path) -> None:
    with CalendarServer() as server:
        result = asyncio.run(stamp(server, FILES))
        for path, proof in result.proofs.items():
            written = tmp_path / f"{path.name}.ots"
            written.write_bytes(proof)
            assert f"PendingAttestation('{server.url}')" in ots_info(written)


def test_each_mine_is_its_own_block() -> None:
    with CalendarServer() as server:
        heights = []
        for _ in range(3):
            asyncio.run(stamp(server, FILES))
            heights.append(server.mine())
        assert heights == [1, 8, 15]
        assert server.mine(2) is None
        assert server.chain.tip == 23


def test_saved_state_still_upgrades(tmp_path: Path) -> None:
    with CalendarServer() as server:
        first = asyncio.run(stamp(server, FILES))
        server.mine()
        second = asyncio.run(stamp(server, FILES))
        server.chain.save(tmp_path / "chain.json")
        server.calendar.save(tmp_path / "calendar.json")
        port = int(server.url.rpartition(":")[2])
    chain = RegtestChain.load(tmp_path / "chain.json")
    calendar = Calendar.load(tmp_path / "calendar.json", chain)
    with CalendarServer(calendar=calendar, port=port) as server:
        server.mine()
        for proofs in (first.proofs, second.proofs):
            assert all(one.complete for one in asyncio.run(upgrade_all(server, proofs)).values())
    (tmp_path / "calendar.json").write_text("[]")
    with pytest.raises(FormatError):
        Calendar.load(tmp_path / "calendar.json", chain)


def test_http_answers_as_the_public_servers_do() -> None:
    with CalendarServer() as server:
        server.chain.mine(2)

        host = server.url.removeprefix("http://")

        def get(path: str, body: bytes | None = None) -> tuple[int, str]:
            connection = HTTPConnection(host, timeout=5)
            connection.request("GET" if body is None else "POST", path, body)
            answer = connection.getresponse()
            with closing(connection):
                return answer.status, answer.read().decode("latin-1")

        assert get("/timestamp/" + "00" * 44) == (404, "Commitment not found in calendar")
        assert get("/blocks/tip/height") == (200, "2")
        status, block_hash = get("/block-height/2")
        assert status == 200
        assert get(f"/block/{block_hash}/header") == (200, server.chain.header(2).hex())
        for path in (
            "/block-height/3",
            "/block-height/x",
            "/block/00/header",
            "/timestamp/zz",
            "/",
            "/timestamp/",
        ):
            assert get(path)[0] == 404
        assert get("/block/" + "00" * 32 + "/header")[0] == 404
        assert get("/digest", b"")[0] == 400
        assert get("/digest", b"x" * 65)[0] == 400
        assert get("/other", b"x" * 32)[0] == 400
        assert get("/digest", b"x" * 32)[0] == 200


def test_a_server_that_was_never_started_stops_cleanly() -> None:
    CalendarServer().stop()
