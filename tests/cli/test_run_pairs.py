"""Paired runs: one model at two hosts, and one endpoint with two reasoning settings under two names."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run_support import chat, configure, log_of, scripted_server
from tests.conftest import Seal
from tests.workshop import PLAN, sealed

TABLE = """
[endpoints.{name}]
provider = "openai"
model = "m"
base_url = "{url}"
api_key_env = "PAIRED_KEY"
reasoning_effort = "{effort}"
"""


def test_two_hosts_and_two_efforts_are_asked_the_same_calls(
    tmp_path: Path, seal: Seal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIRED_KEY", "any-key-will-do")
    root = tmp_path / "workspace"
    sealed(root)
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def host(name: str) -> Any:
        def answer(body: dict[str, Any], _key: str) -> tuple[int, dict[str, Any]]:
            effort = body["reasoning_effort"]
            asked[name].append((effort, body["messages"][-1]["content"]))
            return 200, chat(
                tokens=40 if effort == "low" else 90, stop="stop" if effort == "low" else "length"
            )

        return answer

    names = ("here_low", "here_high", "there_low")
    with scripted_server(host("here")) as here, scripted_server(host("there")) as there:
        for name, url, effort in zip(names, (here, here, there), ("low", "high", "low"), strict=True):
            configure(root, TABLE.format(name=name, url=url, effort=effort))
        text = PLAN.format(endpoints=json.dumps(names), caps=[90], repeats=2, first="here_high", cap=90)
        (root / "plan.toml").write_text(text)
        frozen = seal(
            "preregister",
            "primes",
            "--plan",
            "plan",
            "--from",
            "plan.toml",
            "--no-stamp",
            "--force",
            cwd=root,
        )
        assert frozen.code == 0, frozen.err
        pilot = ["run", "primes", "--exploratory", "--cap", "90", "--repeats", "2"]
        done = seal(*pilot, *(part for name in names for part in ("--endpoint", name)))
    assert done.code == 0, done.err
    lines = log_of(root, "primes-exploratory-1")
    pairs = {
        name: sorted((line.item, line.repeat) for line in lines if line.endpoint == name) for name in names
    }
    assert len(pairs["here_low"]) == 8
    assert pairs["here_low"] == pairs["here_high"] == pairs["there_low"]
    assert {effort for effort, _ in asked["there"]} == {"low"}
    low, high = ([prompt for effort, prompt in asked["here"] if effort == one] for one in ("low", "high"))
    assert sorted(low) == sorted(high) == sorted(prompt for _, prompt in asked["there"])
    ends = {(line.endpoint, line.end, line.charged_tokens) for line in lines}
    assert ends == {
        ("here_low", "finished", 40),
        ("here_high", "cut_reported", 90),
        ("there_low", "finished", 40),
    }
    report = seal("report", "primes-exploratory-1")
    assert report.code == 0
    assert all(name in report.out for name in names)
