"""The probe before anything is frozen; unusable endpoints are clear errors; the key is never seen again."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sealbench.endpoints.probe import PROBE_PROMPT
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.run import Run
from sealbench.store import Workspace
from tests.cli.run_support import all_bytes, chat, configure, log_of, refusal, scripted_server
from tests.conftest import Seal
from tests.workshop import PLAN, sealed

KEY = "sk-live-0123456789abcdefSECRET"
ENDPOINT = """
[endpoints.e]
provider = "openai"
model = "m"
base_url = "{url}"
api_key_env = "MY_TEST_KEY"
cap_parameter = "max_tokens"
temperature = 0
seed = 7
max_attempts = 2
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TEST_KEY", KEY)


def _workspace(root: Path, url: str, caps: tuple[int, ...] = (50,), extra: str = "") -> Workspace:
    workspace, _ = sealed(root)
    configure(root, ENDPOINT.format(url=url) + extra)
    text = PLAN.format(endpoints='["e"]', caps=list(caps), repeats=1, first="e", cap=caps[0])
    (root / "plan.toml").write_text(text)
    return workspace


def _preregister(seal: Seal, root: Path, *more: str) -> Any:
    plan = (
        "preregister",
        "primes",
        "--plan",
        "plan",
        "--from",
        str(root / "plan.toml"),
        "--no-stamp",
        "--force",
    )
    return seal(*plan, "--probe", *more, cwd=root)


def _picky(body: dict[str, Any], _key: str) -> tuple[int, dict[str, Any]]:
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        return 400, refusal(message, "unsupported_parameter")
    if "temperature" in body:
        message = "Unsupported value: 'temperature' does not support 0 with this model."
        return 400, refusal(message, "unsupported_value")
    return 200, chat("1\n2", tokens=body["max_completion_tokens"], stop="length")


def test_what_was_accepted_is_frozen_and_run_without_a_deviation(tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    asked: list[str] = []

    def answer(body: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
        asked.append(body["messages"][-1]["content"])
        return _picky(body, key)

    with scripted_server(answer) as url:
        workspace = _workspace(root, url, (20, 50))
        done = _preregister(seal, root, "--json")
        assert done.code == 0, done.err
        assert set(asked) == {PROBE_PROMPT}
        plan = Preregistration.from_bytes(workspace.plan("plan").read_bytes())
        frozen = plan.endpoints[0]
        assert (frozen.probed, frozen.cap_parameter) == (True, "max_completion_tokens")
        assert frozen.settings == {"seed": 7}
        probe = json.loads(done.out)["probes"][0]
        assert [(one["field"], one["sent"]) for one in probe["substitutions"]] == [
            ("cap_parameter", "max_completion_tokens"),
            ("temperature", None),
        ]
        assert [one["ignored"] for one in probe["caps"]] == [False, False]
        pilot = seal("run", "primes", "--exploratory", "--probe", "--endpoint", "e", "--cap", "20")
        assert pilot.code == 0, pilot.err
    name = "primes-exploratory-1"
    run = Run.from_bytes((root / "runs" / name / "run.json").read_bytes())
    assert run.endpoints == plan.endpoints
    assert {line.cap_parameter for line in log_of(root, name)} == {"max_completion_tokens"}
    assert {line.end for line in log_of(root, name)} == {"cut_reported"}
    assert "temperature (0) is left out" in pilot.err


def test_a_run_substitutes_nothing_by_itself(tmp_path: Path, seal: Seal) -> None:
    """Unprobed, the same endpoint stops at that cap: what a plan froze is never changed under way."""
    root = tmp_path / "workspace"
    with scripted_server(_picky) as url:
        _workspace(root, url)
        pilot = seal("run", "primes", "--exploratory", "--endpoint", "e", "--cap", "20", cwd=root)
    assert pilot.code == 3
    assert "endpoint e at cap 20 was stopped: HTTP 400" in pilot.err
    assert log_of(root, "primes-exploratory-1") == []


def test_a_cap_that_is_ignored_is_found_and_said(tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    with scripted_server(lambda _body, _key: (200, chat(tokens=900))) as url:
        _workspace(root, url)
        done = _preregister(seal, root, "--json")
    assert done.code == 0
    assert "the cap 50 is ignored (900 tokens came)" in done.err
    assert json.loads(done.out)["probes"][0]["caps"] == [
        {"cap": 50, "end": "finished", "charged_tokens": 900, "ignored": True}
    ]


def test_a_cap_of_1_is_asked_and_binds(tmp_path: Path, seal: Seal) -> None:
    sealed(tmp_path / "workspace")
    pilot = ("run", "primes", "--exploratory", "--probe", "--cap", "1", "--endpoint", "reference/solver")
    assert seal(*pilot, cwd=tmp_path / "workspace").code == 0
    lines = log_of(tmp_path / "workspace", "primes-exploratory-1")
    assert {(line.end, line.charged_tokens) for line in lines} == {("cut_reported", 1)}


_ECHO = f"Incorrect API key provided: {KEY}."
UNUSABLE: dict[str, tuple[int, dict[str, Any], int, str, str]] = {
    "wrong key": (401, refusal(_ECHO, "invalid_api_key"), 4, "HTTP 401", "MY_TEST_KEY"),
    "wrong key under 400": (400, refusal(_ECHO, "invalid_api_key"), 4, "HTTP 400", "MY_TEST_KEY"),
    "no such model": (404, refusal("The model `m` does not exist"), 2, "does not exist", "model name m"),
    "cap above the limit": (
        400,
        refusal("max_tokens is too large: 50. This model supports at most 40 completion tokens."),
        2,
        "refuses a call at cap 50",
        "take another cap",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_endpoint_is_said_and_nothing_is_written(tmp_path: Path, seal: Seal, name: str) -> None:
    status, body, code, message, hint = UNUSABLE[name]
    root = tmp_path / "workspace"
    seen: list[str] = []

    def answer(_body: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
        seen.append(key)
        return status, body

    with scripted_server(answer) as url:
        _workspace(root, url)
        before = all_bytes(root)
        frozen = _preregister(seal, root)
        pilot = seal("run", "primes", "--exploratory", "--probe", "--endpoint", "e", "--cap", "50")
    assert seen[0] == f"Bearer {KEY}"
    for result in (frozen, pilot):
        assert result.code == code, result.err
        assert message in result.err
        assert hint in result.err
        assert KEY not in result.out + result.err
    assert all_bytes(root) == before


def test_the_key_is_in_no_file_and_no_stream(tmp_path: Path) -> None:
    """A server that echoes the key in answers, errors and ids; the whole life of a run, with --debug."""
    root = tmp_path / "workspace"
    count = 0

    def answer(_body: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
        nonlocal count
        count += 1
        if count % 3 == 0:
            return 500, refusal(f"internal error for {key}")
        body = chat(f"You sent {key}. Answer: Yes", model=f"m {key}")
        return 200, {**body, "id": f"id-{key}", "system_fingerprint": key, "user": key}

    streams = b""
    with scripted_server(answer) as url:
        _workspace(root, url)
        plan = (
            "preregister",
            "primes",
            "--plan",
            "plan",
            "--from",
            "plan.toml",
            "--no-stamp",
            "--force",
            "--probe",
        )
        pilot = ("run", "primes", "--exploratory", "--endpoint", "e", "--cap", "50", "--probe")
        run = "primes-exploratory-1"
        for arguments in (
            plan,
            pilot,
            ("run", run, "--status"),
            ("run", run, "--audit-ids", "--json"),
            ("report", run),
        ):
            command = [sys.executable, "-m", "sealbench", "--debug", *arguments]
            done = subprocess.run(command, cwd=root, capture_output=True, timeout=60)
            assert done.returncode in (0, 3), done.stderr
            streams += done.stdout + done.stderr
    assert len(log_of(root, run)) == 4
    assert b"KEY REDACTED" in all_bytes(root)
    for secret in (KEY.encode(), KEY[8:].encode()):
        assert secret not in streams
        assert secret not in all_bytes(root)


def test_a_host_that_does_not_resolve(tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    _workspace(root, "http://no-such-host.invalid/v1")
    before = all_bytes(root)
    result = _preregister(seal, root)
    assert result.code == 4
    assert "no-such-host.invalid" in result.err
    assert "reachable" in result.err
    assert all_bytes(root) == before


def test_a_certificate_that_does_not_match(tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    names = ["-subj", "/CN=other.example", "-addext", "subjectAltName=DNS:other.example"]
    files = ["-keyout", str(key), "-out", str(certificate), "-days", "1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *files, *names],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Quiet(HTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """The client hangs up, as it should."""

    with Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        _workspace(root, f"https://127.0.0.1:{server.server_address[1]}/v1")
        before = all_bytes(root)
        result = _preregister(seal, root)
        server.shutdown()
        thread.join()
    assert result.code == 4
    assert "certificate" in result.err.lower()
    assert all_bytes(root) == before
