"""Headers from an Electrum server over TLS: up to 2016 consecutive ones a request.

Protocol: one JSON object a line; `blockchain.block.headers [first, count]` gives concatenated hex,
`blockchain.headers.subscribe []` the tip. What a server sends is checked against checkpoints and proof
of work, so it need not be trusted; many servers sign their own certificates, hence `check_certificate`.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import suppress
from typing import Any

from sealbench.errors import NetworkError
from sealbench.http import printable

TIME_LIMIT = 30.0  # seconds per request
BATCH = 2016  # headers per request, the protocol's own limit
_LINE_LIMIT = BATCH * 160 + 4096  # bytes


class ElectrumServer:
    """One server. A connection is made for each use and closed again; nothing stays open."""

    bulk = True

    def __init__(
        self,
        host: str,
        port: int = 50002,
        *,
        check_certificate: bool = True,
        context: ssl.SSLContext | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        self.name = f"electrum {host}:{port}"
        self._address = (host, port)
        self._context = context
        self._check_certificate = check_certificate
        self._time_limit = time_limit

    async def header(self, height: int) -> bytes:
        """The 80 bytes of the header at a height; NetworkError for anything else."""
        return (await self.headers(height, 1))[0]

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` consecutive headers."""
        calls = [
            ("blockchain.block.headers", [start, min(BATCH, first + count - start)])
            for start in range(first, first + count, BATCH)
        ]
        result: list[bytes] = []
        for (_, (_, wanted)), answer in zip(calls, await self._call(calls), strict=True):
            result += self._split(answer, wanted)
        return result

    async def tip(self) -> int:
        """The server's newest height."""
        (answer,) = await self._call([("blockchain.headers.subscribe", [])])
        height = answer.get("height") if isinstance(answer, dict) else None
        if not isinstance(height, int) or height < 0:
            raise NetworkError(f"{self.name}: named no newest block")
        return height

    def _split(self, answer: Any, wanted: int) -> list[bytes]:
        try:
            packed = bytes.fromhex(answer["hex"])
        except (TypeError, KeyError, ValueError) as error:
            raise NetworkError(f"{self.name}: sent something that is not headers") from error
        if len(packed) != 80 * wanted:
            raise NetworkError(f"{self.name}: sent {len(packed)} bytes for {wanted} headers of 80")
        return [packed[start : start + 80] for start in range(0, len(packed), 80)]

    def _tls(self) -> ssl.SSLContext:
        if self._context is not None:
            return self._context
        context = ssl.create_default_context()
        if not self._check_certificate:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def _call(self, calls: list[tuple[str, list[Any]]]) -> list[Any]:
        """The results of the calls, in order, over one connection."""
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self._time_limit):
                reader, writer = await asyncio.open_connection(
                    *self._address, ssl=self._tls(), limit=_LINE_LIMIT
                )
            hello = ("server.version", ["sealbench", ["1.4", "1.4.5"]])
            results = []
            for number, (method, params) in enumerate([hello, *calls]):
                async with asyncio.timeout(self._time_limit):
                    results.append(await self._one(reader, writer, number, method, params))
            return results[1:]
        except TimeoutError as error:
            raise NetworkError(f"{self.name}: no answer within {self._time_limit:g} s") from error
        except (OSError, ValueError, EOFError, RecursionError) as error:
            # ssl.SSLError is an OSError; too long a line and bad JSON are ValueErrors.
            raise NetworkError(f"{self.name}: {type(error).__name__}: {printable(str(error))}") from error
        finally:
            if writer is not None:
                writer.transport.abort()
                with suppress(OSError):
                    await writer.wait_closed()

    async def _one(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        number: int,
        method: str,
        params: list[Any],
    ) -> Any:
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        writer.write(json.dumps(request).encode("ascii") + b"\n")
        await writer.drain()
        while True:
            line = await reader.readline()
            if not line.endswith(b"\n"):
                raise NetworkError(f"{self.name}: closed the connection")
            answer = json.loads(line)
            if not isinstance(answer, dict):
                raise NetworkError(f"{self.name}: not an answer of an Electrum server")
            if answer.get("id") != number:
                continue  # a notification; the time limit bounds how many are read
            if answer.get("error"):
                raise NetworkError(f"{self.name}: {printable(str(answer['error']))}")
            return answer.get("result")
