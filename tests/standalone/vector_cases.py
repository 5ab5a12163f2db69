"""Runs the stand-alone verifier over test vectors: `python vector_cases.py FOLDER`.

Each case's `expect.json` says what must be found. What only the vectors need stands here: streams, the
order of a run, values that follow from K. Standard library alone, like verify.py.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "sealbench" / "standalone"))

import hashlib

import verify
from verify import Wrong, hkdf, leaf_hash, need, numbered, parts, sha256, tree_root

Expect = dict[str, Any]


class Stream:
    """SHAKE-256 of the length-prefixed parts, read from the front."""

    def __init__(self, *values: bytes | str | int) -> None:
        self.input, self.used = parts(*values), 0

    def read(self, size: int) -> bytes:
        self.used += size
        return hashlib.shake_256(self.input).digest(self.used)[self.used - size :]

    def below(self, bound: int) -> int:
        bits = (bound - 1).bit_length()
        value = bound
        while value >= bound:
            value = int.from_bytes(self.read((bits + 7) // 8), "big") & ((1 << bits) - 1)
        return value

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def sample(self, low: int, high: int, count: int) -> list[int]:
        found: list[int] = []
        while len(found) < count:
            value = self.between(low, high)
            found += [] if value in found else [value]
        return found

    def shuffled(self, values: Iterable[Any]) -> list[Any]:
        result = list(values)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result


def root_of_path(leaf: bytes, index: int, size: int, path: list[str]) -> str:
    """The root that siblings, from the leaf's level up, lead to; empty for a path of another length."""
    node, siblings = leaf, [bytes.fromhex(one) for one in path]
    while size > 1 and index < size:
        if index % 2 or index + 1 < size:  # else a last node, lifted without a sibling
            if not siblings:
                return ""
            sibling = siblings.pop(0)
            node = verify.node_hash(sibling, node) if index % 2 else verify.node_hash(node, sibling)
        index, size = index // 2, (size + 1) // 2
    return node.hex() if index == 0 and not siblings else ""


# One function per kind of case: what this implementation finds, or Wrong ------------------------------


def canonical(folder: Path, _: Expect) -> Expect:
    data = (folder / "input.json").read_bytes()
    verify.parse(data)
    return {"sha256": sha256(data)}


def derivations(folder: Path, expect: Expect) -> Expect:
    key = verify.parse((folder / "key.json").read_bytes(), "sealbench/key/v1")
    secret, parameters = bytes.fromhex(key["secret"]), (folder / "parameters.json").read_bytes()
    digest = bytes.fromhex(sha256(parameters))
    seed = hkdf(secret, "sealbench/v1/seed", digest)
    ids, salts = hkdf(secret, "sealbench/v1/id"), hkdf(secret, "sealbench/v1/salt")
    run = hkdf(secret, "sealbench/v1/response", expect["run"])
    instance = {name: hkdf(secret, "sealbench/v1/instance", name) for name in expect["instance_ids"]}
    return {
        "secret_commitment": sha256(parts("sealbench/v1/secret", secret)),
        "encryption_key": hkdf(secret, "sealbench/v1/encryption").hex(),
        "seed": seed.hex(),
        "seed_with_beacon": hkdf(
            secret, "sealbench/v1/seed", digest, salt=bytes.fromhex(expect["beacon"])
        ).hex(),
        "item_ids": [numbered(ids, index)[:8].hex() for index in range(4)],
        "item_salts": [numbered(salts, index).hex() for index in range(4)],
        "instance_ids": {
            name: [numbered(key, index)[:8].hex() for index in range(3)] for name, key in instance.items()
        },
        "response_salts": [numbered(run, line).hex() for line in range(3)],
        "salted_hash_of_hello": sha256(numbered(run, 0) + b"hello"),
        "item_stream_primality_0": Stream("sealbench/v1/item", seed, "primality", 0).read(32).hex(),
        "wording_stream_primality_0_plain": Stream("sealbench/v1/wording", seed, "primality", 0, "plain")
        .read(32)
        .hex(),
        "shuffle_stream": Stream("sealbench/v1/shuffle", seed).read(32).hex(),
    }


def stream(_: Path, expect: Expect) -> Expect:
    typed = {"hex": bytes.fromhex, "text": str, "number": int}
    values = [typed[kind](value) for part in expect["parts"] for kind, value in part.items()]
    drawn = Stream(expect["label"], *values)
    draws = []
    for draw in expect["draws"]:
        call, arguments = draw["call"], draw["arguments"]
        result: Any = (
            drawn.shuffled(range(arguments[0])) if call == "shuffle" else getattr(drawn, call)(*arguments)
        )
        draws.append({**draw, "result": result.hex() if isinstance(result, bytes) else result})
    return {"draws": draws}


def order(_: Path, expect: Expect) -> Expect:
    repeats = range(1, expect["repeats"] + 1)
    calls = itertools.product(sorted(expect["items"]), expect["endpoints"], expect["caps"], repeats)
    drawn = Stream("sealbench/v1/order", bytes.fromhex(expect["source_sha256"]), expect["run_number"])
    return {"calls": [list(call) for call in drawn.shuffled(calls)]}


def merkle_roots(_: Path, expect: Expect) -> Expect:
    leaves = [leaf_hash(bytes.fromhex(leaf)) for leaf in expect["leaves"]]
    return {"roots": [tree_root(leaves[:size]) for size in range(len(leaves) + 1)]}


def inclusion(_: Path, expect: Expect) -> Expect:
    leaf = bytes.fromhex(expect["leaf_hash"])
    found = root_of_path(leaf, expect["index"], expect["size"], expect["path"])
    need(found == expect["root"], "another root")
    return {}


def opened_item(folder: Path, expect: Expect) -> Expect:
    item = (folder / "item.json").read_bytes()
    verify.parse(item, "item")
    leaf = leaf_hash(bytes.fromhex(expect["salt"]) + item)
    return inclusion(folder, {**expect, "leaf_hash": leaf.hex()})


def envelope(folder: Path, expect: Expect) -> Expect:
    key, parameters, sealed, battery = (
        (folder / name).read_bytes()
        for name in ("key.json", "parameters.json", "sealed.json", "battery.json")
    )
    secret = bytes.fromhex(verify.parse(key, "sealbench/key/v1")["secret"])
    need(sha256(parts("sealbench/v1/secret", secret)) == expect["secret_commitment"], "another K")
    envelope = verify.parse(sealed, "sealbench/sealed/v1")
    ciphertext, associated = verify.unarmour(envelope["ciphertext"]), parts(envelope["name"], parameters)
    opened = verify.decrypt(hkdf(secret, "sealbench/v1/encryption"), ciphertext or b"", associated)
    need(opened == battery, "the envelope holds another battery")
    items, salts = verify.parse(opened, "sealbench/battery/v1")["items"], hkdf(secret, "sealbench/v1/salt")
    leaves = [leaf_hash(numbered(salts, at) + verify.canonical(item)) for at, item in enumerate(items)]
    need(tree_root(leaves) == expect["root"], "another root")
    return {"leaf_hashes": [leaf.hex() for leaf in leaves]}


def sshsig(folder: Path, expect: Expect) -> Expect:
    message, signature, signers = (
        (folder / name).read_bytes() for name in ("message", "message.sig", "allowed_signers")
    )
    line = next(one for one in signers.decode().splitlines() if one.startswith(expect["fingerprint"] + " "))
    key = verify.read_key(line[line.index("ssh-ed25519 ") :])
    need(
        key.fingerprint == expect["fingerprint"] and key.signer == line + "\n",
        "another line of allowed_signers",
    )
    try:
        key.check(message, signature)
    except Wrong as error:
        if error.status == "not_checked":
            return {"not_checked": "ssh-keygen is not here"}
        raise
    return {}


def registry(folder: Path, _: Expect) -> Expect:
    data = (folder / "registry.jsonl").read_bytes()
    tree = {"commitments/registry.jsonl": data}
    for path in (folder / "checkpoints").glob("*.json"):
        tree[f"commitments/checkpoints/{path.name}"] = path.read_bytes()
    lines = verify.parse_lines(data, "registry_line")
    hashes = verify.follow_chain(data, lines, "0" * 64)
    need(lines and lines[0]["event"] == "key", "it does not begin with a key", line=1)
    found = verify.Verification(tree, "", verify.Policy("regtest"))
    false = [reason for _, reason in found.false_checkpoints()]
    need(not false, "; ".join(false), line=int(false[0].split("size ")[1].split(" ")[0]) if false else None)
    return {"size": len(lines), "first": hashes[0], "head": hashes[-1]}


def log(folder: Path, _: Expect) -> Expect:
    run, data = (folder / "run.json").read_bytes(), (folder / "log.jsonl").read_bytes()
    verify.parse(run, "sealbench/run/v1")
    lines = verify.parse_lines(data, "log_line")
    hashes = verify.follow_chain(data, lines, sha256(run))
    return {"lines": len(lines), "head": [sha256(run), *hashes][-1]}


def headers(folder: Path, _: Expect) -> Expect:
    network, found = verify.read_headers((folder / "headers.bin").read_bytes())
    return {"network": network, "headers": {str(height): raw.hex() for height, raw in found.items()}}


def workspace(folder: Path, expect: Expect) -> Expect:
    tree, bundle = verify.load(folder)
    found = verify.Verification(tree, bundle, verify.Policy(expect["network"])).results
    false = [f"step {one[0]} {one[2]}: {one[3]}" for one in found if one[1] not in ("ok", "not_due")]
    need(not false, "; ".join(false))
    items = [verify.parse(tree[f"batteries/{name}/battery.json"])["items"] for name in expect["batteries"]]
    return {"items": sum(map(len, items))}


KINDS: dict[str, Callable[[Path, Expect], Expect]] = {
    function.__name__: function
    for function in (
        canonical,
        derivations,
        stream,
        order,
        merkle_roots,
        inclusion,
        opened_item,
        envelope,
        sshsig,
        registry,
        log,
        headers,
        workspace,
    )
}


def check_case(folder: Path) -> str:
    """Why this implementation does not find what the case expects; empty if it does."""
    expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    try:
        found = KINDS[expect["kind"]](folder, expect)
    except Wrong as error:
        if expect["valid"]:
            return f"refused: {error}"
        wanted = expect.get("line", expect.get("checkpoint"))
        return "" if wanted in (None, error.line) else f"refused at {error.line}, not at {wanted}"
    if found.pop("not_checked", ""):
        return ""
    if not expect["valid"]:
        return "accepted what must be refused"
    differing = sorted(key for key, value in found.items() if value != expect[key])
    return f"another value of {', '.join(differing)}" if differing else ""


def cases(root: Path) -> list[Path]:
    """The folders below `root` that are cases of a kind known here."""
    return [
        path.parent
        for path in sorted(root.rglob("expect.json"))
        if json.loads(path.read_text(encoding="utf-8")).get("kind") in KINDS
    ]


def main(arguments: list[str]) -> int:
    folders = cases(Path(arguments[0]))
    problems = {folder: problem for folder in folders if (problem := check_case(folder))}
    for folder, problem in problems.items():
        sys.stdout.write(f"{folder}: {problem}\n")
    sys.stdout.write(f"{len(folders)} cases, {len(problems)} differ\n")
    return 1 if problems or not folders else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
