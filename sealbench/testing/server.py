"""The reference endpoints over real loopback HTTP, in the OpenAI chat format.

    with ReferenceServer() as server:
        …  # POST {server.url}/chat/completions, GET {server.url}/models

One background thread with its own event loop; when the block ends, thread and sockets are gone. The
server honours `max_completion_tokens` and `max_tokens`, and counts what it writes honestly.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

from sealbench.testing.faulty import FaultScript, Reply
from sealbench.testing.http1 import HttpConnection
from sealbench.testing.reference import MODELS, Completion, complete


class ReferenceServer:
    """A server on 127.0.0.1 at a free port.

    Parameters
    ----------
    script : faults of the model `faulty`, in order; by default every fault in turn.
    latency : seconds to wait before each answer.

    Attributes
    ----------
    url : base URL, `http://127.0.0.1:PORT/v1`.
    requests : chat requests received so far, by model (unparsable ones under "").
    """

    def __init__(self, *, script: FaultScript | None = None, latency: float = 0.0) -> None:
        self.script = script or FaultScript()
        self.latency = latency
        self.requests: Counter[str] = Counter()
        self.url = ""
        self._ids = itertools.count(1)
        self._connections: set[HttpConnection] = set()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="reference-server", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._failure = error
            self._started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await self._loop.create_server(
            lambda: HttpConnection(self._answer, self._connections), "127.0.0.1", 0, backlog=512
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._started.set()
        await self._stop.wait()
        server.close()
        for connection in tuple(self._connections):
            connection.close()
        await server.wait_closed()
        while self._connections:  # their transports close in the loop's next turns
            await asyncio.sleep(0.001)

    async def _answer(self, method: str, path: str, body: bytes) -> Reply:
        if self.latency:
            await asyncio.sleep(self.latency)
        if method == "GET" and path == "/v1/models":
            models = [{"id": model, "object": "model", "owned_by": "sealbench"} for model in MODELS]
            return Reply(200, {"object": "list", "data": models})
        if method != "POST" or path != "/v1/chat/completions":
            return _error(404, f"there is no {method} {path} here", "not_found")
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        if not isinstance(request, dict):
            self.requests[""] += 1
            return _error(400, "the body is not a JSON object", "invalid_json")
        return self._chat(request)

    def _chat(self, request: dict[str, Any]) -> Reply:
        model = request.get("model")
        if model not in MODELS:
            self.requests[""] += 1
            return _error(404, f"The model `{str(model)[:60]}` does not exist", "model_not_found")
        self.requests[model] += 1
        cap = request.get("max_completion_tokens", request.get("max_tokens"))
        if cap is not None and (not isinstance(cap, int) or isinstance(cap, bool) or cap < 1):
            return _error(400, "the cap must be a whole number of at least 1", "invalid_value")
        prompt = _last_user_text(request.get("messages"))
        if prompt is None:
            return _error(400, "messages holds no user text", "invalid_value")
        completion = complete("constant" if model == "faulty" else model, prompt, cap)
        reply = Reply(200, _chat_body(f"chatcmpl-reference-{next(self._ids)}", model, completion))
        if model == "faulty":
            return self.script.apply(self.script.next(), reply, cap)
        return reply


def _last_user_text(messages: Any) -> str | None:
    if not isinstance(messages, list):
        return None
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else None
    return None


def _chat_body(response_id: str, model: str, completion: Completion) -> dict[str, Any]:
    message = {"role": "assistant", "content": completion.text}
    if model == "reasoner":
        message["reasoning_content"] = completion.reasoning
    return {
        "id": response_id,
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": "sealbench-reference-1",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "length" if completion.cut else "stop"}
        ],
        "usage": {
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.completion_tokens,
            "total_tokens": completion.prompt_tokens + completion.completion_tokens,
            "completion_tokens_details": {"reasoning_tokens": completion.reasoning_tokens},
        },
    }


def _error(status: int, message: str, code: str) -> Reply:
    return Reply(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})
