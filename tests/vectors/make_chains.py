"""The vectors that are chains: registries with checkpoints, run logs, the order of a run, headers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from sealbench.crypto.canonical import encode
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.crypto.stream import Stream
from sealbench.formats.registry import NO_LINE, Checkpoint
from sealbench.formats.run import LogLine, Run
from sealbench.timestamps.header_store import HeaderStore

Case = Callable[[str, dict[str, Any], dict[str, bytes]], None]
EVENTS: list[tuple[str, str, list[str], dict[str, Any]]] = [
    ("create", "sample", ["batteries/sample.sealed.json", "commitments/sample.json"], {}),
    ("preregister", "sample-plan", ["preregistrations/sample-plan.json"], {"battery": "sample"}),
    (
        "run_start",
        "sample-plan-1",
        ["runs/sample-plan-1/run.json"],
        {"battery": "sample", "exploratory": False, "plan": "sample-plan"},
    ),
    ("expose", "sample", [], {"endpoints": ["reference/solver"], "run": "sample-plan-1"}),
    (
        "run_end",
        "sample-plan-1",
        ["runs/sample-plan-1/log.jsonl", "runs/sample-plan-1/run.json"],
        {"lines": 4},
    ),
]


def make_registries(case: Case, author: AuthorKey) -> None:
    """A good registry of six lines with two checkpoints, and one for each way to bend it."""
    lines = _registry(author)
    checkpoints = {f"checkpoints/{size}.json": _checkpoint(lines, size, author) for size in (2, 6)}
    good = {"registry.jsonl": _text(lines), **checkpoints}
    facts = {"size": 6, "first": sha256_hex(lines[0]), "head": sha256_hex(lines[-1])}
    case("registry/good", {"kind": "registry", "valid": True, **facts}, good)

    changed = list(lines)
    changed[2] = lines[2].replace(b"00:02:00Z", b"00:02:01Z")
    # What was changed is line 3; what no longer fits, and is named, is the line after it.
    _bad(case, "line_changed", good, changed, line=4)
    _bad(case, "gap", good, [*lines[:2], *lines[3:]], line=3)
    _bad(case, "reordered", good, [lines[0], lines[2], lines[1], *lines[3:]], line=2)
    _bad(case, "repeated", good, [*lines[:3], lines[2], *lines[3:]], line=4)
    _bad(case, "forked", good, [*lines[:4], changed[3], *lines[4:]], line=5)
    _bad(case, "first_line_missing", good, lines[1:], line=1)
    _bad(case, "first_is_no_key", good, _chain(EVENTS), line=1)
    _bad(case, "unknown_event", good, _chain([*_key(author), ("sell", "sample", [], {})]), line=2)
    _bad(case, "empty_line", good, [*lines[:2], b"", *lines[2:]], line=3)
    torn = _text(lines)[:-1]
    case(
        "registry/torn",
        {"kind": "registry", "valid": False, "step": 8, "line": 6},
        {**good, "registry.jsonl": torn},
    )
    # Whole chains by themselves; only a checkpoint tells.
    _bad(case, "truncated", good, lines[:5], checkpoint=6)
    other = [*_key(author), ("create", "simple", EVENTS[0][2], {}), *EVENTS[1:]]
    _bad(case, "rewritten", good, _chain(other), checkpoint=2)
    replaced = _chain([*_key(author, mark="ff" * 16), *EVENTS])
    _bad(case, "another_registry", good, replaced, checkpoint=2)


def _bad(
    case: Case,
    name: str,
    good: dict[str, bytes],
    lines: list[bytes],
    *,
    line: int | None = None,
    checkpoint: int | None = None,
) -> None:
    where = {"line": line} if line is not None else {"checkpoint": checkpoint}
    expect = {"kind": "registry", "valid": False, "step": 8, **where}
    case(f"registry/{name}", expect, {**good, "registry.jsonl": _text(lines)})


def _key(author: AuthorKey, mark: str = "ab" * 16) -> list[tuple[str, str, list[str], dict[str, Any]]]:
    detail = {"mark": mark, "network": "regtest", "public_key": author.public.openssh}
    return [("key", author.public.fingerprint, [], detail)]


def _registry(author: AuthorKey) -> list[bytes]:
    return _chain([*_key(author), *EVENTS])


def _chain(events: list[tuple[str, str, list[str], dict[str, Any]]]) -> list[bytes]:
    lines: list[bytes] = []
    for seq, (event, subject, paths, detail) in enumerate(events):
        lines.append(
            encode(
                {
                    "seq": seq,
                    "prev": sha256_hex(lines[-1]) if lines else NO_LINE,
                    "at": f"2026-12-01T00:{seq:02}:00Z",
                    "event": event,
                    "subject": subject,
                    "files": [{"path": path, "sha256": sha256_hex(path.encode())} for path in paths],
                    "detail": detail,
                }
            )
        )
    return lines


def _text(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _checkpoint(lines: list[bytes], size: int, author: AuthorKey) -> bytes:
    return Checkpoint(
        author=author.public.fingerprint,
        registry=sha256_hex(lines[0]),
        size=size,
        head=sha256_hex(lines[size - 1]),
    ).to_bytes()


def make_logs(case: Case, author: AuthorKey) -> None:
    """A log of four lines, and one for each way to bend its chain."""
    run = _run(author).to_bytes()
    lines = _log(sha256_hex(run))
    facts = {"lines": 4, "head": sha256_hex(lines[-1])}
    good = {"run.json": run, "log.jsonl": _text(lines)}
    case("log/good", {"kind": "log", "valid": True, **facts}, good)
    case(
        "log/empty",
        {"kind": "log", "valid": True, "lines": 0, "head": sha256_hex(run)},
        {**good, "log.jsonl": b""},
    )
    token = [lines[0].replace(b'"charged_tokens":300', b'"charged_tokens":299'), *lines[1:]]
    field = [lines[0].replace(b'"fingerprint":null,', b""), *lines[1:]]
    added = [lines[0].replace(b'"first_line_tokens"', b'"first_line":1,"first_line_tokens"'), *lines[1:]]
    for name, changed, line in (
        ("line_changed", token, 2),
        ("line_dropped", [lines[0], *lines[2:]], 2),
        ("first_line_dropped", lines[1:], 1),
        ("lines_exchanged", [lines[0], lines[2], lines[1], lines[3]], 2),
        ("line_repeated", [*lines, lines[3]], 5),
        ("field_missing", field, 1),
        ("field_unknown", added, 1),
    ):
        expect = {"kind": "log", "valid": False, "step": 10, "line": line}
        case(f"log/{name}", expect, {**good, "log.jsonl": _text(changed)})
    torn = {**good, "log.jsonl": _text(lines)[:-1]}
    case("log/torn", {"kind": "log", "valid": False, "step": 10, "line": 4}, torn)
    other = {**good, "run.json": run.replace(b'"repeats":1', b'"repeats":2')}
    case("log/of_another_run", {"kind": "log", "valid": False, "step": 10, "line": 1}, other)


def _run(author: AuthorKey) -> Run:
    return Run.from_value(
        {
            "schema": "sealbench/run/v1",
            "author": author.public.fingerprint,
            "registry": "11" * 32,
            "registry_size": 3,
            "registry_head": "22" * 32,
            "name": "sample-plan-1",
            "number": 1,
            "exploratory": False,
            "battery": "sample",
            "commitment": {"path": "commitments/sample.json", "sha256": "33" * 32},
            "plan": {"path": "preregistrations/sample-plan.json", "sha256": "44" * 32},
            "require": "confirmed",
            "tool_version": "0.1.0",
            "started_at": "2026-12-01T00:03:00Z",
            "block": {"height": 7, "hash": "55" * 32},
            "endpoints": [
                {
                    "name": "reference/solver",
                    "provider": "reference",
                    "model": "solver",
                    "base_url": None,
                    "api_key_env": None,
                    "cap_parameter": "max_completion_tokens",
                    "settings": {},
                    "probed": False,
                }
            ],
            "caps": [300],
            "repeats": 1,
            "wordings": ["plain"],
            "parser": {"name": "sealbench-answers", "version": 1},
            "planned_calls": 4,
        }
    )


def _log(first: str) -> list[bytes]:
    lines: list[bytes] = []
    for seq in range(4):
        cut = seq % 2 == 0
        value = {
            "seq": seq,
            "prev": sha256_hex(lines[-1]) if lines else first,
            "item": f"{seq:016x}",
            "instance": f"{seq + 16:016x}",
            "family": "primality",
            "class_label": "prime" if cut else "composite",
            "kind": "semiprime",
            "stratum": "digits_6",
            "search": "exhaustive" if cut else "witness",
            "wording": "plain",
            "category": "primality",
            "endpoint": "reference/solver",
            "model": "solver",
            "cap": 300,
            "cap_parameter": "max_completion_tokens",
            "repeat": 1,
            "end": "cut_reported" if cut else "finished",
            "answer": "unparseable" if cut else "right",
            "stop": "length" if cut else "stop",
            "at_cap": False,
            "not_binding": False,
            "charged_tokens": 300 if cut else 121,
            "visible_tokens": 300 if cut else 121,
            "reasoning_tokens": 0,
            "prompt_tokens": 28,
            "visible_characters": 900,
            "characters_without_markdown": 900,
            "minimal_characters": 3,
            "first_line_tokens": 13,
            "longest_step": 13,
            "mean_logprob": None,
            "parsed": None if cut else "No",
            "attempts": [
                {
                    "at": "2026-12-01T00:04:00.000001Z",
                    "ended_at": "2026-12-01T00:04:01.000000Z",
                    "status": 200,
                    "outcome": "answered",
                }
            ],
            "response_id_hash": "66" * 32,
            "body_hash": "77" * 32,
            "fingerprint": None,
        }
        lines.append(LogLine.from_value(value).to_bytes())
    return lines


def make_orders(case: Case) -> None:
    """The drawn order of a run's calls."""
    items = ["000000000000000a", "000000000000000b", "000000000000000c"]
    endpoints = ["reference/solver", "reference/constant"]
    for number in (1, 2):
        calls = list(product(items, endpoints, [300, 4000], [1]))
        Stream("sealbench/v1/order", bytes.fromhex("44" * 32), number).shuffle(calls)
        expect = {
            "kind": "order",
            "valid": True,
            "source_sha256": "44" * 32,
            "run_number": number,
            "items": items,
            "endpoints": endpoints,
            "caps": [300, 4000],
            "repeats": 1,
            "calls": [list(call) for call in calls],
        }
        case(f"order/run_{number}", expect, {})


def make_headers(case: Case) -> None:
    """Packed headers: the layout alone, with bytes that no chain would accept."""
    raw = {height: height.to_bytes(80, "big") for height in (3, 4, 5, 900)}
    data = HeaderStore(raw, network="regtest").to_bytes()
    start = len(b"SEALHDR\x01") + 1 + len(b"regtest")
    first = data[start + 4 : start + 4 + 8 + 240]
    second = data[start + 4 + 8 + 240 :]
    head = data[:start]
    facts = {"network": "regtest", "headers": {str(height): header.hex() for height, header in raw.items()}}
    case("headers/good", {"kind": "headers", "valid": True, **facts}, {"headers.bin": data})
    none = {"network": "mainnet", "headers": {}}
    empty = HeaderStore({}).to_bytes()
    case("headers/none", {"kind": "headers", "valid": True, **none}, {"headers.bin": empty})
    two = (2).to_bytes(4, "big")
    for name, bad in {
        "wrong_magic": b"SEALHDR\x02" + data[8:],
        "unknown_network": data.replace(b"regtest", b"testnt3"),
        "cut_short": data[:-1],
        "byte_added": data + b"\x00",
        "segments_exchanged": head + two + second + first,
        "segments_touch": head + two + _segment(3, raw[3]) + _segment(4, raw[4]),
        "segment_empty": head + two + _segment(3, raw[3]) + _segment(9, b""),
        "count_too_large": head + (3).to_bytes(4, "big") + first + second,
        "empty_file": b"",
    }.items():
        case(f"headers/{name}", {"kind": "headers", "valid": False, "step": 1}, {"headers.bin": bad})


def _segment(first: int, headers: bytes) -> bytes:
    return first.to_bytes(4, "big") + (len(headers) // 80).to_bytes(4, "big") + headers
