"""Real nodes on regtest: `bcoin` as the chain behind our calendar, Litecoin Core for the RPC of Bitcoin Core.

`make test-regtest` installs bcoin (a full Bitcoin node from npm) into `build/bcoin`; `BCOIN` names another
folder. Litecoin Core (`litecoind`, a fork of Bitcoin Core) is used where it is on the path: its blocks use
scrypt, so only the RPC side is compared. Nothing here leaves the loopback.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sealbench.errors import NetworkError
from sealbench.testing.calendar import CalendarServer
from sealbench.testing.chain import Block, RegtestChain
from sealbench.timestamps import core_rpc
from sealbench.timestamps.core_rpc import CoreNode
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import REGTEST, Header, display
from tests.conftest import Seal

pytestmark = pytest.mark.integration
BCOIN = Path(os.environ.get("BCOIN", Path(__file__).parents[2] / "build" / "bcoin"))
PASSWORD = "of this test only"
PATIENCE = 60.0  # seconds for a node to start


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Rpc:
    """A node's RPC, written a second time with the standard library, to drive the node with."""

    def __init__(self, url: str, login: Callable[[], str]) -> None:
        self.url = url
        self._login = login

    def __call__(self, method: str, *params: Any) -> Any:
        login = base64.b64encode(self._login().encode()).decode()
        body = json.dumps({"id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"authorization": f"Basic {login}"})  # noqa: S310
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                reply = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method}: {error.code} {error.read()!r}") from error
        if reply["error"]:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]


@contextmanager
def running(command: Sequence[str | Path], rpc: Rpc, log: Path, **environment: str) -> Iterator[None]:
    """A node in a process of its own, stopped at the end."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
        )
        try:
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    rpc("getblockcount")
                    break
                except (OSError, RuntimeError, ValueError):
                    if process.poll() is not None or time.monotonic() > deadline:
                        pytest.fail("the node did not start:\n" + log.read_text("utf-8", "replace")[-2000:])
                    time.sleep(0.2)
            yield
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class NodeChain(RegtestChain):
    """A chain that a node keeps: a block with a commitment is made here and handed to the node, which
    checks it by Bitcoin's rules; all other blocks are the node's own."""

    def __init__(self, rpc: Rpc, address: str) -> None:
        super().__init__()
        self._rpc = rpc
        self._address = address

    def mine(
        self, count: int = 1, *, commitment: bytes = b"", transactions: Sequence[bytes] = ()
    ) -> list[int]:
        heights = []
        if commitment:
            heights = super().mine(1, commitment=commitment, transactions=transactions)
            block = self.block(heights[0])
            raw = block.header.raw + bytes([len(block.transactions)]) + b"".join(block.transactions)
            assert self._rpc("submitblock", raw.hex()) is None
            count -= 1
        for block_hash in self._rpc("generatetoaddress", count, self._address) if count else []:
            raw = bytes.fromhex(self._rpc("getblockheader", block_hash, False))
            self._blocks.append(Block(Header(raw), ()))
            heights.append(self.tip)
        assert self._rpc("getbestblockhash") == display(self.block(self.tip).header.hash)
        return heights


ADDRESS = "R9HC5WtHbpoa51NCUAz86XLCmGTbkf45NT"  # of nobody: the hash of twenty zero bytes, as bcoin spells it


@pytest.fixture(scope="module")
def bcoin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rpc]:
    program = BCOIN / "node_modules" / "bcoin" / "bin" / "node"
    if not program.exists() or shutil.which("node") is None:
        pytest.skip(f"no bcoin in {BCOIN} (make test-regtest installs it; it needs node and npm)")
    folder = tmp_path_factory.mktemp("bcoin")
    port = free_port()
    command = [
        "node",
        program,
        "--network=regtest",
        "--memory=true",
        f"--prefix={folder}",
        "--http-host=127.0.0.1",
        f"--http-port={port}",
        f"--api-key={PASSWORD}",
        "--no-wallet",
        "--listen=false",
        "--max-outbound=1",
        "--only=127.0.0.1:9",
        "--log-file=false",
    ]
    rpc = Rpc(f"http://127.0.0.1:{port}/", lambda: f"x:{PASSWORD}")
    with running(command, rpc, folder / "log", NODE_BACKEND="js"):
        yield rpc


def test_stamp_mine_upgrade_and_verify_through_a_node(
    seal: Seal, bcoin: Rpc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = NodeChain(bcoin, ADDRESS)
    chain.mine(3)
    monkeypatch.setenv("NODE_PASSWORD", PASSWORD)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    settings = tmp_path / "configuration" / "sealbench" / "config.toml"
    settings.parent.mkdir(parents=True)
    with CalendarServer(chain) as server:
        settings.write_text(
            f'network = "regtest"\n[timestamps]\ncalendars = ["{server.url}"]\nminimum_operators = 1\n'
            f'explorers = []\ncore_rpc = "{bcoin.url}"\ncore_user = "x"\n'
            'core_password_env = "NODE_PASSWORD"\n'
        )
        for name in ("one.txt", "two.txt"):
            (tmp_path / name).write_text(name)
        stamped = seal("stamp", "one.txt", "two.txt", cwd=tmp_path)
        assert stamped.code == 0, stamped
        assert seal("upgrade", "one.txt", "two.txt").code == 3
        height = server.mine()
        assert height == 4
        upgraded = seal("upgrade", "one.txt", "two.txt")
        assert upgraded.code == 0, upgraded
        assert f"anchored in block {height} of regtest" in upgraded.out
    # The calendar and its explorer are gone: the node alone gives the headers.
    verified = seal("verify", "one.txt", "two.txt", "--network", "regtest")
    assert verified.code == 0, verified
    assert verified.out.count(f"block {height}: chained") == 2
    assert "2 files: 2 anchored" in verified.out
    assert seal("verify", "one.txt", "--network", "regtest", "--offline").code == 4
    assert seal("verify", "one.txt").code == 4  # on mainnet it is nothing
    (tmp_path / "one.txt").write_text("another")
    assert seal("verify", "one.txt", "--network", "regtest").code == 1
    monkeypatch.setenv("NODE_PASSWORD", "wrong")
    refused = seal("verify", "two.txt", "--network", "regtest")
    assert refused.code == 4 and "refused the login" in refused.err and "wrong" not in refused.err


def test_the_node_refuses_what_we_call_false(bcoin: Rpc) -> None:
    """Bitcoin's own rules agree with ours on a block without work, and on one that does not link."""
    chain = RegtestChain()
    (height,) = chain.mine(1, commitment=bytes(32))
    block = chain.block(height)
    tail = bytes([1]) + block.transactions[0]
    for nonce in range(64):
        easy = Header(block.header.raw[:76] + nonce.to_bytes(4, "little"))
        if not easy.meets_own_target():
            break
    assert bcoin("submitblock", (easy.raw + tail).hex()) == "rejected: high-hash"
    store = HeaderStore({0: REGTEST.genesis.raw, 1: easy.raw}, network="regtest")
    assert "too little proof of work" in store.links(REGTEST).forward.broken


def test_headers_of_a_real_node_link(bcoin: Rpc) -> None:
    bcoin("generatetoaddress", 60, ADDRESS)

    async def run() -> tuple[int, list[bytes]]:
        node = CoreNode(bcoin.url, user="x", password=PASSWORD)
        try:
            tip = await node.tip()
            return tip, await node.headers(0, tip + 1)
        finally:
            await node.aclose()

    tip, headers = asyncio.run(run())
    assert tip == bcoin("getblockcount") >= 60
    forward = HeaderStore(dict(enumerate(headers)), network="regtest").links(REGTEST).forward
    assert (forward.tip, forward.broken) == (tip, "")


@pytest.fixture(scope="module")
def litecoind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rpc, Path]]:
    program = shutil.which("litecoind")
    if program is None:
        pytest.skip("no litecoind on the path (Debian: apt-get install litecoind)")
    folder = tmp_path_factory.mktemp("litecoind")
    port = free_port()
    cookie = folder / "regtest" / ".cookie"
    command = [
        program,
        "-regtest",
        f"-datadir={folder}",
        "-server",
        f"-rpcport={port}",
        "-listen=0",
        "-connect=0",
        "-dnsseed=0",
    ]
    rpc = Rpc(f"http://127.0.0.1:{port}", lambda: cookie.read_text("utf-8"))
    with running(command, rpc, folder / "log"):
        yield rpc, cookie


def test_the_rpc_of_bitcoin_cores_own_code(
    litecoind: tuple[Rpc, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc, cookie = litecoind
    rpc("generatetodescriptor", 400, "raw(51)")  # past 431, Litecoin's extension blocks begin
    monkeypatch.setattr(core_rpc, "_BATCH", 150)  # three requests, the last one shorter
    wrong = tmp_path / "cookie"
    wrong.write_text("__cookie__:00")

    async def run() -> tuple[int, list[bytes]]:
        node, liar, lost = (CoreNode(rpc.url, cookie=path) for path in (cookie, wrong, tmp_path / "none"))
        try:
            with pytest.raises(NetworkError, match="refused the login"):
                await liar.tip()
            with pytest.raises(NetworkError, match="cookie file"):
                await lost.tip()
            with pytest.raises(NetworkError, match="out of range"):
                await node.header(10_000)
            tip = await node.tip()
            return tip, await node.headers(0, tip + 1)
        finally:
            for one in (node, liar, lost):
                await one.aclose()

    tip, headers = asyncio.run(run())
    assert tip == 400
    parsed = [Header(raw) for raw in headers]
    assert all(one.previous == before.hash for before, one in pairwise(parsed))
    assert display(parsed[-1].hash) == rpc("getbestblockhash")
