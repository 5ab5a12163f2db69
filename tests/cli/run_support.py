"""What the tests of `seal run` share: a chat server that answers by a function, and small readers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sealbench.formats.run import LogLine, Run, read_log

Answer = Callable[[dict[str, Any], str], tuple[int, dict[str, Any]]]


@contextmanager
def scripted_server(answer: Answer) -> Iterator[str]:
    """A server at the URL given; `answer` gets the request's JSON and its authorization header."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            status, body = answer(json.loads(raw), self.headers.get("authorization", ""))
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: tests read stderr."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def chat(
    text: str = "Answer: Yes", *, tokens: int = 5, stop: str = "stop", model: str = "m"
) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "chatcmpl-1",
        "model": model,
        "choices": [{"index": 0, "message": {"content": text}, "finish_reason": stop}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens},
    }


def refusal(message: str, code: str = "invalid_request_error") -> dict[str, Any]:
    """An error body."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def log_of(root: Path, run: str = "plan-1") -> list[LogLine]:
    """The lines of a run's log, its chain checked."""
    document = Run.from_bytes((root / "runs" / run / "run.json").read_bytes())
    return list(read_log((root / "runs" / run / "log.jsonl").read_bytes(), document.digest()))


def configure(root: Path, text: str) -> None:
    """Add to a workspace's configuration."""
    path = root / "sealbench.toml"
    path.write_text(path.read_text() + "\n" + text)


def all_bytes(root: Path) -> bytes:
    """Every file of a folder, names included, for searching."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return b"\n".join(str(path).encode() + b"\n" + path.read_bytes() for path in files)
