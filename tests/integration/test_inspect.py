"""The bridge to Inspect AI with the real harness: mockllm, and the reference server behind its OpenAI client.

`make test-inspect` installs it into `.venv-inspect`; `INSPECT_PYTHON` names another interpreter that has it,
sealbench, pandas and polars. Only loopback is used.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sealbench.publishing.publication import read_registry
from sealbench.store import Workspace
from sealbench.testing.server import ReferenceServer
from tests.conftest import Seal
from tests.workshop import sealed

pytestmark = pytest.mark.integration
INSPECT_PYTHON = Path(
    os.environ.get("INSPECT_PYTHON", Path(__file__).parents[2] / ".venv-inspect" / "bin" / "python")
)
# A model that thinks past every cap for primes: nothing visible, all tokens charged.
MOCK = """
import sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def answer(messages, tools, choice, config):
    prompt = messages[-1].text
    n = next(int(word) for word in prompt.split() if word.isdigit())
    prime = all(n % d for d in range(2, int(n**0.5) + 1))
    output = ModelOutput.from_content(
        "model", "" if prime else "Answer: No", stop_reason="max_tokens" if prime else "stop"
    )
    output.usage = ModelUsage(input_tokens=20, output_tokens=300 if prime else 9, total_tokens=320)
    return output

model = get_model("mockllm/model", custom_outputs=answer)
(log,) = eval(
    "sealbench/battery", model=model, task_args={"battery": "primes"}, epochs=2, max_tokens=300,
    log_dir=".seal/inspect", display="none", fail_on_error=True,
)
print(log.status, next(iter(log.results.scores)).metrics["accuracy"].value)
"""
FRAMES = """
import sys
import sealbench
found = sealbench.audit(sys.argv[1], keep_rows=True)
for library in ("pandas", "polars"):
    rows, counts = found.rows_frame(library), found.counts_frame(library)
    lost = rows.filter(rows["lost"]) if library == "polars" else rows[rows["lost"]]
    print(library, len(rows), len(lost), sorted(set(lost["class"])), int(counts["lost"].sum()))
    print(*(str(rows[name].dtype) for name in ("item", "tokens", "missing")))
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A sealed battery, and a machine that has Inspect AI."""
    if not INSPECT_PYTHON.exists():
        pytest.skip(f"{INSPECT_PYTHON} is not there: make test-inspect")
    return sealed(tmp_path / "workspace", per_class=4)[0]


def _python(workspace: Workspace, script: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [INSPECT_PYTHON, "-c", script, *arguments],
        cwd=workspace.root,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _audited(seal: Seal, workspace: Workspace, *options: str) -> dict[str, Any]:
    result = seal("audit", ".seal/inspect", "--json", *options, cwd=workspace.root)
    assert result.code == 0, result.err
    view: dict[str, Any] = json.loads(result.out)
    return view


def test_mockllm(seal: Seal, workspace: Workspace) -> None:
    told = _python(workspace, MOCK)
    assert told.split() == ["success", "0.5"]  # all that the harness itself says
    view = _audited(seal, workspace)
    (group,) = view["groups"]
    assert (group["tested"], group["class1"], group["finding"]) == ("lost", "prime", "asymmetric")
    prime, composite = group["classes"]["prime"], group["classes"]["composite"]
    assert (prime["items"], prime["responses"], prime["lost"]) == (
        prime["items"],
        2 * prime["items"],
        2 * prime["items"],
    )
    assert (composite["lost"], group["cap"]) == (0, 300)
    (battery,) = view["batteries"]
    assert (battery["checked"], battery["items"], battery["committed"]) == (True, *[prime["items"] * 2] * 2)
    assert battery["regraded"] == battery["samples"] == 4 * prime["items"]
    (line,) = read_registry(workspace).events("expose")
    assert line.detail["endpoints"] == ["inspect:mockllm/model"]
    responses = battery["samples"]
    assert _python(workspace, FRAMES, ".seal/inspect").splitlines() == [
        f"pandas {responses} {prime['lost']} ['prime'] {prime['lost']}",
        "str float64 bool",
        f"polars {responses} {prime['lost']} ['prime'] {prime['lost']}",
        "String Float64 Boolean",
    ]


@pytest.mark.parametrize(("model", "cut"), [("solver", "all"), ("constant", "none")])
def test_the_reference_server_behind_its_openai_client(
    seal: Seal, workspace: Workspace, model: str, cut: str
) -> None:
    with ReferenceServer() as server:
        command = [INSPECT_PYTHON.with_name("inspect"), "eval", "sealbench/battery", "-T", "battery=primes"]
        command += ["--model", f"openai-api/reference/{model}", "--max-tokens", "300"]
        done = subprocess.run(
            [*command, "--log-dir", ".seal/inspect", "--display", "plain"],
            cwd=workspace.root,
            env={**os.environ, "REFERENCE_BASE_URL": server.url, "REFERENCE_API_KEY": "none"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        items = samples = server.requests[model]
    view = _audited(seal, workspace, "--commitment", "commitments/primes.json")
    (group,) = view["groups"]
    (battery,) = view["batteries"]
    assert (battery["items"], battery["committed"], battery["samples"]) == (items, items, samples)
    assert (battery["altered"], battery["regraded"]) == (0, samples)
    prime = group["classes"]["prime"]
    assert prime["cut_reported"] == (prime["responses"] if cut == "all" else 0)
    assert group["classes"]["composite"]["cut_reported"] == 0


def test_a_battery_that_cannot_be_opened_is_said(workspace: Workspace) -> None:
    workspace.battery_key("primes").unlink()
    command = [INSPECT_PYTHON.with_name("inspect"), "eval", "sealbench/battery", "-T", "battery=primes"]
    done = subprocess.run(
        [*command, "--model", "mockllm/model", "--log-dir", ".seal/inspect", "--display", "plain"],
        cwd=workspace.root,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    told = " ".join((done.stdout + done.stderr).split())
    assert "no such key here" in told
    assert "seal: hint: seal key restore BACKUP" in told
