"""Helpers of the timestamp commands' tests: a configuration, an explorer on the loopback, one line."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import Header, display
from tests.conftest import Result

DATA = Path(__file__).parents[1] / "data" / "ots"


def regtest_settings(*urls: str, explorers: list[str] | None = None) -> str:
    calendars = json.dumps(list(urls))
    named = json.dumps(list(urls) if explorers is None else explorers)
    return (
        f'network = "regtest"\n[timestamps]\ncalendars = {calendars}\n'
        f"minimum_operators = 1\nexplorers = {named}\n"
    )


class Esplora:
    """A mainnet explorer on the loopback that serves some headers and records what it is asked."""

    def __init__(self, headers: HeaderStore) -> None:
        self.asked: list[str] = []
        by_hash = {display(Header(raw).hash): raw for _, raw in headers.items()}
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                parts = self.path.strip("/").split("/")
                raw = headers.get(int(parts[1])) if parts[0] == "block-height" else by_hash.get(parts[1])
                body = b"Block not found"
                if raw is not None:
                    body = (display(Header(raw).hash) if parts[0] == "block-height" else raw.hex()).encode()
                self.send_response(404 if raw is None else 200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Esplora:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def one_line(result: Result, beginning: str) -> str:
    (line,) = (line for line in result.out.splitlines() if line.startswith(beginning))
    return line
