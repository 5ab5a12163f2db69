"""`seal report --verbosity --cascade` over a run of one model with reasoning on and off, end to end.

The server is scripted: with reasoning it answers in one word, without it at length and less certainly, so
every number is known beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run_support import chat, configure, scripted_server
from tests.conftest import Result, Seal
from tests.workshop import sealed

ENDPOINT = """
[endpoints.{name}]
provider = "openai"
model = "m"
base_url = "{url}"
api_key_env = "MY_TEST_KEY"
cap_parameter = "max_tokens"
reasoning_effort = "{effort}"
release_date = {released}
price = {{ input = 1.0, output = {price} }}
"""
LONG = "I think that this number may well be prime, let me say it plainly.\nAnswer: Yes"


def answer(body: dict[str, Any], _key: str) -> tuple[int, dict[str, Any]]:
    """8 primes and 8 composites: "Yes" is right for half of them."""
    concise = body["reasoning_effort"] == "high"
    reply = chat("Answer: Yes" if concise else LONG, tokens=103 if concise else 23)
    logprob = -0.25 if concise else -1.5
    reply["choices"][0]["logprobs"] = {"content": [{"logprob": logprob}, {"logprob": logprob}]}
    reply["usage"]["completion_tokens_details"] = {"reasoning_tokens": 100 if concise else 0}
    return 200, reply


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A pilot of both endpoints on 8 items."""
    from sealbench.cli.root import invoke

    root = tmp_path_factory.mktemp("verbosity") / "workspace"
    sealed(root, per_class=4)
    with scripted_server(answer) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MY_TEST_KEY", "k")
        patch.setenv("XDG_CONFIG_HOME", str(root / "none"))
        on = ENDPOINT.format(name="on", url=url, effort="high", released="2026-01-31", price="10.0")
        off = ENDPOINT.format(name="off", url=url, effort="none", released='"2025-01-31"', price="2.0")
        configure(root, on + off)
        arguments = [
            "run",
            "primes",
            "--exploratory",
            "--cap",
            "300",
            "--endpoint",
            "on",
            "--endpoint",
            "off",
        ]
        assert invoke([*arguments, "-C", str(root)]) == 0
    yield root


@pytest.fixture
def told(seal: Seal, workspace: Path, tmp_path: Path) -> tuple[Result, dict[str, Any]]:
    """The command's result and its sections by name."""
    arguments = ("--verbosity", "--cascade", "off,on", "--html", str(tmp_path / "page.html"))
    done = seal("report", *arguments, "--json", cwd=workspace)
    assert done.code == 0, done.err
    return done, {section["name"]: section for section in json.loads(done.out)["across"]}


def rows(section: dict[str, Any], table: int = 0) -> list[list[str]]:
    found: list[list[str]] = section["tables"][table]["rows"]
    return found


def test_reasoning_pairs(told: tuple[Result, dict[str, Any]]) -> None:
    section = told[1]["reasoning"]
    assert section["tables"][0]["caption"] == "on (reasoning_effort high) against off (reasoning_effort none)"
    yap, accuracy, censored = rows(section)
    count = int(yap[2])
    assert count >= 8
    score = len("Answer: Yes") - 3, len(LONG) - 3
    assert yap[4] in (str(score[0]), f"{score[0] + 0.5}")
    assert yap[7] == f"1/{2 ** (count - 1)} = {2.0 ** (1 - count):.1e}"
    assert (accuracy[6], accuracy[7], censored[6]) == ("0.0%", "1", "0.0%")


def test_perplexity_bins(told: tuple[Result, dict[str, Any]]) -> None:
    section = told[1]["perplexity"]
    (on,), (off,) = rows(section, 0), rows(section, 1)
    assert (on[0], on[2]) == ("0 to 15", "1.28")  # exp(0.25)
    assert (off[0], off[2]) == ("64 to 127", "4.48")  # exp(1.5)
    assert sum("one side does not vary" in sentence for sentence in section["text"]) == 2


def test_release_dates_make_a_table_and_a_figure(told: tuple[Result, dict[str, Any]], tmp_path: Path) -> None:
    section = told[1]["releases"]
    assert [row[:2] for row in rows(section)] == [["2025-01-31", "off"], ["2026-01-31", "on"]]
    assert any("p 1, 2 points" in sentence and "Cannot tell" in sentence for sentence in section["text"])
    page = (tmp_path / "page-more.html").read_text(encoding="utf-8")
    assert "YapIndex against release date: battery primes, cap 300" in page
    assert "on, released 2026-01-31" in page
    assert "<script" not in page


def test_yap_tax_in_usd(told: tuple[Result, dict[str, Any]]) -> None:
    taxes = {row[0]: row for row in rows(told[1]["verbosity"], 1)}
    # Minimal answers of 2 or 3 characters are one token: 2 and 22 in excess of each 1,000.
    assert taxes["on"][1:] == ["2000", "estimated", "$10.0 (sealbench.toml today)", "$0.0200"]
    assert taxes["off"][1:] == ["22000", "estimated", "$2.0 (sealbench.toml today)", "$0.0440"]


def test_the_cascade_and_routing_cost_usd(told: tuple[Result, dict[str, Any]]) -> None:
    off, on, cascade, random = rows(told[1]["cascade"])
    # Nine prompt tokens: (9 + 2·23) and (9 + 10·103) millionths of a dollar a call.
    assert (off[0], off[3], off[4]) == ("off", "23", "$0.0550")
    assert (on[0], on[3], on[4]) == ("on", "103", "$1.04")
    assert (cascade[1], cascade[3], cascade[4]) == ("50.0%", "126", "$1.09")
    assert random[1:] == ["–"] * 4  # dearer than either endpoint
    first, *_, last = rows(told[1]["routing"])
    assert (first[:3], first[7]) == (["0", "0", "0.0%"], "$0.0550")
    assert (last[:3], last[7], last[8]) == (["1", "1", "100.0%"], "$1.09", "–")
