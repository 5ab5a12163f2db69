"""The reference server over real loopback HTTP."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import Any

import httpx
import pytest

from sealbench.testing.faulty import ALL_FAULTS, FaultScript
from sealbench.testing.server import ReferenceServer


def post(url: str, model: str, **fields: Any) -> httpx.Response:
    prompt = "Is 999983 a prime number?"
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **fields}
    return httpx.post(f"{url}/chat/completions", json=body, timeout=10, trust_env=False)


def ask(url: str, model: str, **fields: Any) -> dict[str, Any]:
    return post(url, model, **fields).json()


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_caps_are_honoured_under_both_names(field: str) -> None:
    with ReferenceServer() as server:
        answer = ask(server.url, "solver", **{field: 300})
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 300
    assert answer["usage"]["total_tokens"] == 300 + answer["usage"]["prompt_tokens"]


def test_reasoner_is_empty_when_cut_and_answers_when_not() -> None:
    with ReferenceServer() as server:
        cut = ask(server.url, "reasoner", max_tokens=300)
        whole = ask(server.url, "reasoner", max_tokens=4000)
    assert cut["choices"][0]["message"]["content"] == ""
    assert cut["choices"][0]["message"]["reasoning_content"]
    assert cut["usage"]["completion_tokens_details"]["reasoning_tokens"] == 300
    assert whole["choices"][0]["message"]["content"] == "Answer: Yes"
    assert whole["choices"][0]["finish_reason"] == "stop"


def test_models_are_listed() -> None:
    with ReferenceServer() as server:
        answer = httpx.get(f"{server.url}/models", trust_env=False).json()
    assert {model["id"] for model in answer["data"]} == {
        "solver",
        "constant",
        "reasoner",
        "faulty",
    }


@pytest.mark.parametrize(
    ("model", "fields", "status"),
    [("nobody", {}, 404), ("solver", {"max_tokens": 0}, 400), ("solver", {"messages": 3}, 400)],
)
def test_wrong_requests_are_refused(model: str, fields: dict[str, Any], status: int) -> None:
    with ReferenceServer() as server:
        response = post(server.url, model, **fields)
    assert response.status_code == status
    assert response.json()["error"]["message"]


def test_garbage_on_the_wire_is_answered_400() -> None:
    with ReferenceServer() as server:
        port = int(server.url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"BREW coffee\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_pipelined_and_split_requests_are_understood() -> None:
    body = json.dumps(
        {"model": "constant", "messages": [{"role": "user", "content": "Is 7 prime?"}]}
    ).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    data = (head + body) * 3
    with ReferenceServer() as server:
        port = int(server.url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            for start in range(0, len(data), 57):
                connection.sendall(data[start : start + 57])
            received = b""
            while received.count(b"Answer: Yes") < 3:
                received += connection.recv(65536)
        assert server.requests["constant"] == 3


def test_nothing_is_left_behind() -> None:
    before = threading.active_count()
    with ReferenceServer() as server:
        port = int(server.url.split(":")[2].split("/")[0])
        idle = socket.create_connection(("127.0.0.1", port), timeout=5)
        ask(server.url, "constant")
    idle.close()
    assert threading.active_count() == before
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_every_fault_is_dealt_in_turn() -> None:
    script = FaultScript(pause=0.01)
    with ReferenceServer(script=script) as server:
        for _ in ALL_FAULTS:
            with contextlib.suppress(httpx.HTTPError):  # dropped and truncated
                post(server.url, "faulty", max_tokens=300)
    assert script.dealt == dict.fromkeys(ALL_FAULTS, 1)
