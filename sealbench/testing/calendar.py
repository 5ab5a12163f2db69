"""A calendar and a block explorer on this machine: real HTTP, real proofs, on a regtest chain.

    POST /digest                   a promise: the digest, salted, timed and marked by this calendar
    GET  /timestamp/HEX            404 until a block carries it, then the path to a Bitcoin attestation
    GET  /block-height/H, /block/HASH/header, /blocks/tip/height, /blocks/H   as an Esplora explorer

`mine()` makes the block that carries what was promised and buries it. Everything is labelled regtest
and can never pass for mainnet, since its blocks have next to no work.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from opentimestamps.core.notary import PendingAttestation
from opentimestamps.core.op import OpAppend, OpPrepend, OpSHA256
from opentimestamps.core.timestamp import Timestamp, make_merkle_tree

from sealbench.errors import FormatError
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.networks import Header, display
from sealbench.timestamps.proof import merge_timestamps, serialize_timestamp

SCHEMA = "sealbench/regtest-calendar/v1"
PAGE = 10  # blocks in one page of the explorer
DIGEST_LIMIT = 64  # bytes, as the public calendars
_TYPE = "application/vnd.opentimestamps.v1"

Reply = tuple[int, str, bytes]


class Calendar:
    """The calendar without its server: promises, and upgrades once a block carries them."""

    def __init__(self, chain: RegtestChain, *, clock: Callable[[], float] = time.time) -> None:
        self.chain = chain
        self._clock = clock
        self._key = os.urandom(32)
        self._lock = threading.Lock()
        self._waiting: dict[bytes, None] = {}
        self._confirmed: dict[bytes, bytes] = {}

    def promise(self, digest: bytes, uri: str) -> bytes:
        """Take a digest in; gives the serialised timestamp from it to the promise."""
        top = Timestamp(digest)
        node = top.ops.add(OpAppend(os.urandom(16))).ops.add(OpSHA256())
        node = node.ops.add(OpPrepend(int(self._clock()).to_bytes(4, "big")))
        node = node.ops.add(OpAppend(hmac.digest(self._key, node.msg, "sha256")[:8]))
        node.attestations.add(PendingAttestation(uri))
        with self._lock:
            self._waiting[node.msg] = None
        return serialize_timestamp(top)

    def upgrade(self, message: bytes) -> tuple[bytes | None, str]:
        """The serialised upgrade of a promise, or None and what the public calendars say instead."""
        with self._lock:
            if message in self._confirmed:
                return self._confirmed[message], ""
            if message in self._waiting:
                return None, "Pending confirmation in Bitcoin blockchain"
        return None, "Commitment not found in calendar"

    def mine(self, beyond: int = 6) -> int | None:
        """Put all promises into one block and mine `beyond` blocks on it; its height, None if none waited."""
        with self._lock:
            waiting = list(self._waiting)
            if not waiting:
                self.chain.mine(beyond)
                return None
            tops = [Timestamp(message) for message in waiting]
            tip = make_merkle_tree([top.ops.add(OpSHA256()) for top in tops])
            (height,) = self.chain.mine(1, commitment=tip.msg)
            merge_timestamps(tip, self.chain.attest(tip.msg, height))
            self._confirmed.update(
                (message, serialize_timestamp(top)) for message, top in zip(waiting, tops, strict=True)
            )
            self._waiting.clear()
            self.chain.mine(beyond)
            return height

    def save(self, path: Path) -> None:
        """Write promises and upgrades as JSON; the chain has a file of its own."""
        with self._lock:
            waiting = [message.hex() for message in self._waiting]
            confirmed = {message.hex(): proof.hex() for message, proof in self._confirmed.items()}
        state = {"schema": SCHEMA, "waiting": waiting, "confirmed": confirmed}
        path.write_text(json.dumps(state, indent=1) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path, chain: RegtestChain) -> Calendar:
        """Read a saved calendar; FormatError if it is not one."""
        calendar = cls(chain)
        try:
            state = json.loads(path.read_text("utf-8"))
            calendar._waiting = {bytes.fromhex(message): None for message in state["waiting"]}
            calendar._confirmed = {
                bytes.fromhex(message): bytes.fromhex(proof) for message, proof in state["confirmed"].items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FormatError(f"{path}: not a saved calendar", hint="delete it to start anew") from error
        return calendar


class CalendarServer:
    """Calendar and explorer over HTTP on the loopback, in a background thread.

    Use as a context manager. `port` 0 takes a free one; give the old port to serve proofs that name it.
    """

    def __init__(
        self,
        chain: RegtestChain | None = None,
        *,
        calendar: Calendar | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        own = chain or (calendar.chain if calendar else RegtestChain(clock=clock))
        self.calendar = calendar or Calendar(own, clock=clock)
        self._server = _Server((host, port), _Handler)
        self._server.answer = self._answer
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def chain(self) -> RegtestChain:
        """The chain both serve from."""
        return self.calendar.chain

    @property
    def url(self) -> str:
        """Address of the calendar, and of the explorer."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def mine(self, beyond: int = 6) -> int | None:
        """As `Calendar.mine`."""
        return self.calendar.mine(beyond)

    def start(self) -> None:
        """Serve from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and free the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> CalendarServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _answer(self, method: str, path: str, body: bytes) -> Reply:
        if method == "POST":
            if path != "/digest" or not 0 < len(body) <= DIGEST_LIMIT:
                return 400, "text/plain", b"digest must be 1 to 64 bytes"
            return 200, _TYPE, self.calendar.promise(body, self.url)
        if match := re.fullmatch(r"/timestamp/((?:[0-9a-f]{2}){1,128})", path):
            proof, text = self.calendar.upgrade(bytes.fromhex(match[1]))
            return (200, _TYPE, proof) if proof is not None else (404, "text/plain", text.encode())
        return explore(self.chain, path)


def explore(chain: RegtestChain, path: str) -> Reply:
    """What an Esplora-style explorer on this chain answers to a GET."""
    text = None
    if path == "/blocks/tip/height":
        text = str(chain.tip)
    elif (match := re.fullmatch(r"/blocks/([0-9]{1,9})", path)) and int(match[1]) <= chain.tip:
        heights = range(int(match[1]), max(int(match[1]) - PAGE, -1), -1)
        text = json.dumps([_listed(height, chain.block(height).header) for height in heights])
    elif (match := re.fullmatch(r"/block-height/([0-9]{1,9})", path)) and int(match[1]) <= chain.tip:
        text = display(chain.block(int(match[1])).header.hash)
    elif match := re.fullmatch(r"/block/([0-9a-f]{64})/header", path):
        height = chain.height_of(bytes.fromhex(match[1])[::-1])
        text = None if height is None else chain.header(height).hex()
    if text is None:
        return 404, "text/plain", b"Block not found"
    return 200, "text/plain", text.encode()


def _listed(height: int, header: Header) -> dict[str, Any]:
    """A block as Esplora lists it; transactions and sizes are left out."""
    return {
        "id": display(header.hash),
        "height": height,
        "version": int.from_bytes(header.raw[:4], "little"),
        "timestamp": header.time,
        "bits": header.bits,
        "nonce": int.from_bytes(header.raw[76:], "little"),
        "merkle_root": display(header.merkle_root),
        "previousblockhash": display(header.previous),
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    answer: Callable[[str, str, bytes], Reply]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "sealbench-regtest"
    timeout = 10

    def do_GET(self) -> None:
        self._reply(*self.server.answer("GET", self.path, b""))

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        size = int(length) if length.isdecimal() and len(length) < 6 else 0
        self._reply(*self.server.answer("POST", self.path, self.rfile.read(min(size, DIGEST_LIMIT + 1))))

    def _reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: library code does not print."""
