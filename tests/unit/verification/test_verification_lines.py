"""Large logs and responses: read in parts, kept once, and judged as small ones are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sealbench.errors import FormatError
from sealbench.formats.run import LogLine, RawResponse
from sealbench.stages.verify import make_policy
from sealbench.verification import files, lines, memo, responses
from sealbench.verification.lines import check_each_line, parse_lines
from sealbench.verification.memo import Elsewhere, Memo, compute
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

LOG = "runs/primes-plan-1/log.jsonl"
RESPONSES = "batteries/primes/responses/primes-plan-1.jsonl"


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as a large one, read seven lines at a time."""
    for module in (files, lines, responses):
        monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(responses, "_PART", 7)


def in_parts(tree: PublicTree) -> Verification:
    with ThreadPoolExecutor(2) as threads:
        return Verifier(make_policy(network="regtest"), Elsewhere(threads, 2)).verify(tree)


def edited(tree: PublicTree, path: str, number: int, change: Callable[[bytes], bytes]) -> PublicTree:
    found = (tree.get(path) or b"").split(b"\n")
    found[number] = change(found[number])
    return tree.with_file(path, b"\n".join(found))


def other_id(raw: bytes) -> bytes:
    return RawResponse.from_bytes(raw).model_copy(update={"response_id": "another"}).to_bytes()


DAMAGE: list[tuple[str, int, Callable[[bytes], bytes], str]] = [
    (LOG, 40, lambda raw: raw.replace(b'"seq":40', b'"seq":41'), "line 41"),
    (LOG, 95, lambda raw: raw[:-1], "line 96"),
    (LOG, 96, lambda raw: b"{", "torn"),
    (RESPONSES, 50, other_id, "line 51: the salted hash of the response id is another one"),
    (RESPONSES, 0, lambda raw: b"no json", "line 1: "),
    (RESPONSES, 95, lambda raw: raw + b"\n{}", "97 responses for 96 log lines"),
    (RESPONSES, 96, lambda raw: b"{", "torn"),
]


@pytest.mark.usefixtures("large")
def test_a_whole_workspace_is_whole(demo_folder: Path) -> None:
    tree = PublicTree.from_folder(demo_folder)
    policy = make_policy(network="regtest")
    assert in_parts(tree) == Verifier(policy).verify(tree)
    assert in_parts(tree).verdict == "ok"


@pytest.mark.parametrize(("path", "number", "change", "told"), DAMAGE)
def test_the_line_is_named_whatever_the_size(
    demo_folder: Path,
    request: pytest.FixtureRequest,
    path: str,
    number: int,
    change: Callable[[bytes], bytes],
    told: str,
) -> None:
    damaged = edited(PublicTree.from_folder(demo_folder), path, number, change)
    small = Verifier(make_policy(network="regtest")).verify(damaged)
    request.getfixturevalue("large")
    assert any(told in one.detail for one in small.failures), [one.detail for one in small.failures]
    assert in_parts(damaged) == Verifier(make_policy(network="regtest")).verify(damaged) == small


@pytest.mark.usefixtures("large")
def test_parts_are_computed_once_each_and_not_kept(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: Counter[str] = Counter()

    def counted(function: Callable[..., object], arguments: tuple[object, ...]) -> object:
        called[function.__name__] += 1
        return compute(function, arguments)

    monkeypatch.setattr(memo, "compute", counted)
    tree = PublicTree.from_folder(demo_folder)
    verifier = Verifier(make_policy(network="regtest"))
    for times in (1, 2):
        assert verifier.verify(tree).verdict == "ok"
        assert called["check_part"] == times * 2 * 14  # two runs of 96 responses
    assert called["parse_lines"] == 2  # each log once, for steps 1, 10 and 11


def test_small_files_are_remembered_line_by_line(demo_folder: Path) -> None:
    data = (demo_folder / LOG).read_bytes()
    own = Memo()
    first = parse_lines(own, LogLine, data, LOG)
    assert len(first) == 96
    changed = data.replace(b'"seq":95', b'"seq":96')
    again = parse_lines(own, LogLine, changed, LOG)
    assert [one is other for one, other in zip(first, again, strict=True)] == [True] * 95 + [False]


@pytest.mark.parametrize("read", [parse_lines, check_each_line])
def test_no_lines_and_half_a_line(read: Callable[..., object]) -> None:
    assert not read(Memo(), LogLine, b"", LOG)
    with pytest.raises(FormatError, match="torn"):
        read(Memo(), LogLine, b"{}", LOG)
    with pytest.raises(FormatError, match=f"{LOG} line 1: "):
        read(Memo(), LogLine, b"{}\n", LOG)
