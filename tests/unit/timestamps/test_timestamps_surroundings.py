"""Poor surroundings: behind a proxy, without libssl, without RIPEMD-160, without an HTTP library."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from scripted_servers import answering, http, raw_server
from timestamps_support import DATA

from sealbench.errors import NetworkError
from sealbench.http import new_client
from sealbench.timestamps.calendars import submit, upgrade
from sealbench.timestamps.explorer import Explorer

PENDING = (DATA / "nlnl" / "pending" / "swap.commitment.json.ots").read_bytes()


async def through_proxy(
    monkeypatch: pytest.MonkeyPatch, name: str, use: Callable[[], Awaitable[object]]
) -> list[str]:
    """What a proxy is asked while `use` runs; it refuses every tunnel."""
    asked: list[str] = []
    async with raw_server(answering(lambda *_: http(502, b""), asked)) as port:
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        with pytest.raises(NetworkError):
            await use()
    return asked


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_calendars_and_explorers_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    async def explorer() -> None:
        async with new_client() as client:
            await Explorer("https://explorer.example/api", client, time_limit=5).header(1)

    async def calendar() -> None:
        async with new_client() as client:
            calendars = ["https://calendar.example"]
            await submit({Path("a"): b"a"}, calendars, minimum_operators=1, client=client, time_limit=5)

    assert asyncio.run(through_proxy(monkeypatch, name, explorer)) == ["CONNECT explorer.example:443"]
    assert asyncio.run(through_proxy(monkeypatch, name, calendar)) == ["CONNECT calendar.example:443"]


def test_upgrades_go_through_the_proxy_and_say_why_they_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []

    async def upgrades() -> None:
        async with new_client() as client:
            result = await upgrade(
                PENDING,
                whitelist=["https://*.calendar.opentimestamps.org"],
                client=client,
                time_limit=5,
            )
        notes.extend(result.notes)
        assert not result.changed
        raise NetworkError("done")

    asked = asyncio.run(through_proxy(monkeypatch, "HTTPS_PROXY", upgrades))
    assert sorted(asked) == [
        "CONNECT alice.btc.calendar.opentimestamps.org:443",
        "CONNECT bob.btc.calendar.opentimestamps.org:443",
    ]
    assert sum("ProxyError" in note and "502" in note for note in notes) == 2


POOR = """
import builtins, ctypes, ctypes.util, hashlib, sys
real_import, real_new = builtins.__import__, hashlib.new
def poor_import(name, *rest, **more):
    if name.split('.')[0] in {'httpx', 'aiohttp', 'numpy', 'sympy', 'otsclient'} or name == 'bitcoin.rpc':
        raise ImportError(name)
    return real_import(name, *rest, **more)
def no_library(*_, **__):
    raise OSError('libssl.so: cannot open shared object file')
def poor_new(name, *rest, **more):
    if name == 'ripemd160':
        raise ValueError('unsupported hash type ripemd160')
    return real_new(name, *rest, **more)
builtins.__import__ = poor_import
ctypes.util.find_library = lambda name: None
ctypes.CDLL = no_library
ctypes.cdll.LoadLibrary = no_library
hashlib.new = poor_new
from sealbench.cli.root import main
main(sys.argv[1:])
"""


def test_verifying_needs_neither_libssl_nor_ripemd160_nor_an_http_library(tmp_path: Path) -> None:
    from opentimestamps.core.notary import PendingAttestation
    from opentimestamps.core.op import OpRIPEMD160
    from opentimestamps.core.timestamp import Timestamp

    from sealbench.crypto.digest import sha256
    from sealbench.timestamps.proof import DetachedProof, serialize

    content = b"anything"
    top = Timestamp(sha256(content))
    top.ops.add(OpRIPEMD160()).attestations.add(PendingAttestation("https://calendar.example"))
    weak = tmp_path / "weak.txt"
    weak.write_bytes(content)
    weak.with_name("weak.txt.ots").write_bytes(serialize(DetachedProof("sha256", sha256(content), top)))
    nlnl = DATA / "nlnl" / "swap.commitment.json"
    done = subprocess.run(
        [sys.executable, "-c", POOR, "verify", "--offline", str(weak), str(nlnl)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3, done
    assert "pending: promised by https://calendar.example" in done.stdout
    assert "may commit to two files" in done.stdout
    assert "needs header: claimed in block 960072, 960073, 960086" in done.stdout
    assert "Traceback" not in done.stderr
