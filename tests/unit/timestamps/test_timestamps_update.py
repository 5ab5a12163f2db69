"""`update_headers` from each kind of source, on the synthetic chain with a table that is one period long."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_servers import Handler, answering, http, raw_server
from test_timestamps_core_rpc import node, serving
from test_timestamps_electrum import certificate, electrum, speaking  # noqa: F401  # a fixture
from timestamps_support import SyntheticChain

from sealbench.config import Settings
from sealbench.errors import NetworkError
from sealbench.stages import update_headers as stage
from sealbench.stages.update_headers import UpdatedHeaders, update_headers
from sealbench.testing.calendar import explore
from sealbench.timestamps.bitcoin import CheckpointTable, Header, Network


class Chain:
    """The synthetic chain with the face of a regtest chain, which explorers and nodes are made of."""

    def __init__(self, headers: list[bytes]) -> None:
        self._headers = headers
        self.tip = len(headers) - 1

    def block(self, height: int) -> Any:
        return SimpleNamespace(header=Header(self._headers[height]))

    def header(self, height: int) -> bytes:
        return self._headers[height]

    def height_of(self, block_hash: bytes) -> int | None:
        return next((h for h, raw in enumerate(self._headers) if Header(raw).hash == block_hash), None)


@pytest.fixture
def older(synthetic: SyntheticChain, monkeypatch: pytest.MonkeyPatch) -> Network:
    table = synthetic.network.checkpoints
    network = replace(synthetic.network, checkpoints=CheckpointTable(table.hashes[:1], table.bits[:1]))
    monkeypatch.setattr(stage, "NETWORKS", {"mainnet": network})
    return network


def explorer(headers: list[bytes]) -> Handler:
    chain = Chain(headers)

    def respond(_: str, path: str, __: bytes) -> bytes:
        status, _kind, body = explore(chain, path)  # type: ignore[arg-type]
        return http(status, body)

    return answering(respond)


async def update(
    handler: Handler, settings: Callable[[int], Settings], tls: ssl.SSLContext | None = None, **more: Any
) -> UpdatedHeaders:
    async with raw_server(handler, tls) as port:
        return await asyncio.to_thread(update_headers, settings(port), **more)


def kept(done: UpdatedHeaders, older: Network) -> CheckpointTable:
    table = CheckpointTable.from_bytes(done.path.read_bytes())
    assert older.checkpoints.superseded_by(table) == table
    return table


def test_from_an_explorer(older: Network, synthetic: SyntheticChain) -> None:
    said: list[str] = []
    done = asyncio.run(
        update(
            explorer(synthetic.headers),
            lambda port: Settings(explorers=(f"http://127.0.0.1:{port}",)),
            kind="explorer",
            note=said.append,
        )
    )
    assert (done.before, done.after, done.notes) == (2015, 6047, ())
    assert kept(done, older).hashes[:2] == synthetic.network.checkpoints.hashes
    assert said == [f"asking {done.source}"]


def test_from_a_node(older: Network, synthetic: SyntheticChain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_PASSWORD", "secret")

    def settings(port: int) -> Settings:
        url = f"http://127.0.0.1:{port}"
        return Settings(core_rpc=url, core_user="me", core_password_env="NODE_PASSWORD")

    handler = serving(node(Chain(synthetic.headers)))  # type: ignore[arg-type]
    done = asyncio.run(update(handler, settings, kind="core"))
    assert (done.after, len(kept(done, older))) == (6047, 3)
    # The variable is empty: the login is refused, and the secret's name is not its value.
    monkeypatch.setenv("NODE_PASSWORD", "")
    with pytest.raises(NetworkError, match="refused the login") as caught:
        asyncio.run(update(handler, settings, kind="core"))
    assert "secret" not in caught.value.message


def test_from_electrum(older: Network, synthetic: SyntheticChain, certificate: Path) -> None:  # noqa: F811
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    done = asyncio.run(
        update(
            speaking(electrum(synthetic)),
            lambda port: Settings(electrum=(f"127.0.0.1:{port}",)),
            tls,
            kind="electrum",
        )
    )
    assert (done.after, len(kept(done, older))) == (6047, 3)


def test_the_next_source_takes_over_from_one_that_lies(older: Network, synthetic: SyntheticChain) -> None:
    false = [*synthetic.headers[:2100], synthetic.headers[2101], *synthetic.headers[2101:]]

    async def run() -> UpdatedHeaders:
        async with raw_server(explorer(false)) as lying, raw_server(explorer(synthetic.headers)) as right:
            urls = tuple(f"http://127.0.0.1:{port}" for port in (1, lying, right))
            return await asyncio.to_thread(update_headers, Settings(explorers=urls))

    done = asyncio.run(run())
    assert done.after == 6047
    assert len(done.notes) == 2
    assert "does not link" in done.notes[1]


def test_what_is_linked_before_a_fault_is_kept(older: Network, synthetic: SyntheticChain) -> None:
    """The last headers are false: the period that is buried below right ones is taken all the same."""
    false = [*synthetic.headers[:6050], synthetic.headers[6051], *synthetic.headers[6051:]]
    chain = replace(synthetic, headers=false)
    done = asyncio.run(
        update(explorer(chain.headers), lambda port: Settings(explorers=(f"http://127.0.0.1:{port}",)))
    )
    assert done.after == 4031
    assert len(kept(done, older)) == 2


@pytest.mark.parametrize(
    "respond",
    [
        lambda method, path, body: http(200, b"x" * 1_000_000),
        lambda method, path, body: http(302, b"", "location: https://elsewhere.example/\r\n"),
        lambda method, path, body: http(200, b"4294967295"),
        lambda method, path, body: http(200, json.dumps([{"height": 1}]).encode()),
        lambda method, path, body: b"\x00\xff" * 9,
    ],
)
def test_hostile_sources_give_nothing(
    older: Network,
    respond: Callable[[str, str, bytes], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(NetworkError, match="no source gave further headers") as caught:
        asyncio.run(
            update(answering(respond), lambda port: Settings(explorers=(f"http://127.0.0.1:{port}",)))
        )
    assert caught.value.hint
    assert not list(tmp_path.rglob("*.bin"))
