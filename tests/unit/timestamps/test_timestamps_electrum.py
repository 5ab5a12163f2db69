"""The Electrum source against a scripted TLS server on the loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from scripted_servers import Handler, raw_server
from timestamps_support import SyntheticChain

from sealbench.errors import NetworkError
from sealbench.timestamps.bitcoin import HeaderStore, grade_attestation
from sealbench.timestamps.electrum import ElectrumServer
from sealbench.timestamps.headers import HeaderSource, complete_headers


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, as many Electrum servers have."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def electrum(chain: SyntheticChain, calls: list[tuple[str, Any]] | None = None) -> Callable[[Any], Any]:
    def respond(request: Any) -> Any:
        if calls is not None:
            calls.append((request["method"], request["params"]))
        if request["method"] == "blockchain.block.headers":
            first, count = request["params"]
            chosen = chain.headers[first : first + min(count, 2016)]
            return {"count": len(chosen), "hex": b"".join(chosen).hex(), "max": 2016}
        if request["method"] == "blockchain.headers.subscribe":
            return {"height": len(chain.headers) - 1, "hex": chain.headers[-1].hex()}
        return ["scripted 1.0", "1.4"]

    return respond


def speaking(respond: Callable[[Any], Any]) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            request = json.loads(line)
            notification = {"jsonrpc": "2.0", "method": "blockchain.headers.subscribe", "params": []}
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": respond(request)}
            for one in (notification, answer):
                writer.write(json.dumps(one).encode() + b"\n")
            await writer.drain()

    return handle


def sending(data: bytes, wait: float = 0) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(wait)

    return handle


async def with_server(
    certificate: Path, handler: Handler, use: Callable[[ElectrumServer], Any], time_limit: float = 30
) -> Any:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    async with raw_server(handler, tls) as port:
        trusting = ssl.create_default_context(cafile=str(certificate))
        return await use(ElectrumServer("127.0.0.1", port, context=trusting, time_limit=time_limit))


def test_headers_2016_at_a_time(certificate: Path, synthetic: SyntheticChain) -> None:
    calls: list[tuple[str, Any]] = []

    async def use(source: HeaderSource) -> None:
        assert await source.tip() == len(synthetic.headers) - 1
        assert await source.header(5) == synthetic.headers[5]
        calls.clear()
        assert await source.headers(10, 5000) == synthetic.headers[10:5010]

    asyncio.run(with_server(certificate, speaking(electrum(synthetic, calls)), use))
    assert [params for method, params in calls if method.endswith("headers")] == [
        [10, 2016],
        [2026, 2016],
        [4042, 968],
    ]


def test_grades_reached_through_electrum(certificate: Path, synthetic: SyntheticChain) -> None:
    async def use(source: HeaderSource) -> HeaderStore:
        heights = [100, 2500, 2600, 6055]
        return await complete_headers(HeaderStore(), heights, [source], synthetic.network)

    store = asyncio.run(with_server(certificate, speaking(electrum(synthetic)), use))
    assert store.segments() == [(100, 1916), (2500, 1532 + 2030)]
    for height, grade in (
        (100, "checkpointed"),
        (2500, "checkpointed"),
        (2600, "checkpointed"),
        (6055, "chained"),
    ):
        assert grade_attestation(synthetic.root(height), height, store, synthetic.network).grade == grade


def test_certificates_are_checked_unless_told_otherwise(certificate: Path, synthetic: SyntheticChain) -> None:
    async def use(source: ElectrumServer) -> None:
        host, port = source._address
        with pytest.raises(NetworkError, match="ertificate"):
            await ElectrumServer(host, port, time_limit=30).tip()
        loose = ElectrumServer(host, port, check_certificate=False, time_limit=30)
        assert await loose.tip() == len(synthetic.headers) - 1

    asyncio.run(with_server(certificate, speaking(electrum(synthetic)), use))


HOSTILE = {
    "stalls": sending(b"", 60),
    "closes": sending(b""),
    "half a line": sending(b'{"id": 0', 0),
    "garbage": sending(b"\xff\x00\x1b[2J\n"),
    "no object": sending(b"[1]\n"),
    "an error": sending(b'{"id": 0, "error": {"message": "go\\u001b[2J away"}}\n'),
    "a line without end": sending(b"a" * 2_000_000),
    "deep nesting": sending(b"[" * 200_000 + b"\n"),
    "only notifications": sending(b'{"method": "x"}\n' * 10, 60),
}


@pytest.mark.parametrize("handler", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_servers_are_bounded(certificate: Path, handler: Handler) -> None:
    async def use(source: ElectrumServer) -> None:
        with pytest.raises(NetworkError) as caught:
            # Far above the limit of one second, far below what these servers would keep a client waiting.
            async with asyncio.timeout(30):
                await source.header(5)
        assert caught.value.message.isprintable()

    asyncio.run(with_server(certificate, handler, use, time_limit=1))


@pytest.mark.parametrize(
    "result", [None, {}, {"hex": 5}, {"hex": "zz"}, {"hex": "00" * 79}, {"hex": "00" * 160}, []]
)
def test_wrong_results(certificate: Path, result: Any) -> None:
    async def use(source: ElectrumServer) -> None:
        with pytest.raises(NetworkError):
            await source.header(5)
        with pytest.raises(NetworkError):
            await source.tip()

    asyncio.run(with_server(certificate, speaking(lambda _: result), use))


def test_nobody_listens() -> None:
    with pytest.raises(NetworkError):
        asyncio.run(ElectrumServer("127.0.0.1", 9, time_limit=1).tip())
