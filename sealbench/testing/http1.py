"""A small HTTP/1.1 connection for the built-in servers: keep-alive, content-length, faults on demand.

Only what loopback clients of this package send is understood; anything else is answered 400 and the
connection closed. It is no server for a network.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from sealbench.testing.faulty import Reply

MAX_HEAD = 32 * 1024
MAX_BODY = 8 * 1024 * 1024
Answer = Callable[[str, str, bytes], Awaitable[Reply]]


class HttpConnection(asyncio.Protocol):
    """One client connection; requests on it are answered one after another."""

    def __init__(self, answer: Answer, connections: set[HttpConnection]) -> None:
        self._answer = answer
        self._connections = connections
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        self._connections.discard(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Hang up without waiting for anything."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        self._buffer += data
        if self._task is None:
            self._next_request()

    def _next_request(self) -> None:
        request = self._take_request()
        if request is not None:
            self._task = asyncio.get_running_loop().create_task(self._respond(*request))

    def _take_request(self) -> tuple[str, str, bytes] | None:
        """The next whole request in the buffer, or None if there is not yet one."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                self._refuse()
            return None
        head = _read_head(bytes(self._buffer[:end]))
        if head is None:
            self._refuse()
            return None
        method, path, length = head
        whole = end + 4 + length
        if len(self._buffer) < whole:
            return None
        body = bytes(self._buffer[end + 4 : whole])
        del self._buffer[:whole]
        return method, path, body

    def _refuse(self) -> None:
        self._buffer.clear()
        if self._transport is not None:
            self._transport.write(
                b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            self._transport.close()

    async def _respond(self, method: str, path: str, body: bytes) -> None:
        reply = await self._answer(method, path, body)
        transport = self._transport
        if transport is None:
            return
        if reply.drop:
            transport.abort()
            return
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        head = f"HTTP/1.1 {reply.status} {_phrase(reply.status)}\r\ncontent-type: application/json\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        head += f"content-length: {len(data)}\r\n\r\n"
        if reply.truncate:
            transport.write(head.encode("latin-1") + data[: len(data) // 2])
            transport.close()
            return
        if reply.pause:
            transport.write(head.encode("latin-1") + data[: len(data) // 2])
            await asyncio.sleep(reply.pause)
            transport.write(data[len(data) // 2 :])
        else:
            transport.write(head.encode("latin-1") + data)
        self._task = None
        self._next_request()


def _read_head(head: bytes) -> tuple[str, str, int] | None:
    """(method, path, content-length) of a request's head; None if it is not understood."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    length = "0"
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            length = value.strip()
        elif name.lower() == "transfer-encoding":
            return None
    if len(words) != 3 or not (length.isascii() and length.isdigit()) or int(length) > MAX_BODY:
        return None
    return words[0], words[1], int(length)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
