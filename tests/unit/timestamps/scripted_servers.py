"""Servers on the loopback that answer as a test scripts it: well-behaved, lying, slow or broken ones."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Respond = Callable[[str, str, bytes], bytes]
"""Method, path and body in; the raw bytes of the whole HTTP answer out."""


@asynccontextmanager
async def raw_server(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run `handler` for each connection; gives the port."""
    running: set[asyncio.Task[None]] = set()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            running.add(task)
        try:
            await handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, bytes]:
    """Method, path and body of one HTTP request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, path, _ = head.split(" ", 2)
    length = next(
        (int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0
    )
    return method, path, await reader.readexactly(length)


def http(status: int, body: bytes, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{extra}\r\n"
    return head.encode("latin-1") + body


def answering(respond: Respond, asked: list[str] | None = None) -> Handler:
    """A handler that answers one request a connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, path, body = await read_request(reader)
        if asked is not None:
            asked.append(f"{method} {path}")
        writer.write(respond(method, path, body))
        await writer.drain()

    return handle


async def stalling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await read_request(reader)
    await asyncio.sleep(60)


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a right-looking answer, one byte at a time, for ever."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.02)


async def flooding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send ten megabytes."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n")
    for _ in range(100):
        writer.write(b"a" * 100_000)
        await writer.drain()


async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection instead of answering."""
    await read_request(reader)


async def half_closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Promise more bytes than are sent."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nabc")
    await writer.drain()


async def babbling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Not speak HTTP at all."""
    await read_request(reader)
    writer.write(b"\xff\x00\x1b[2J" * 50)
    await writer.drain()
