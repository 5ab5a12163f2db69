"""Random damage to a tree: bytes, lines, whole files; sometimes with the list of files repaired."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

from sealbench.store import FILES
from sealbench.verification.tree import PublicTree


def tampered(tree: PublicTree, count: int, seed: int) -> Iterator[tuple[str, PublicTree]]:
    """`count` damaged copies, each with what was done to which file."""
    rng = random.Random(seed)
    paths = tree.paths()
    for _ in range(count):
        path = rng.choice(paths)
        data = tree.get(path) or b""
        name, changed = _damage(rng, data, tree.get(rng.choice(paths)) or b"")
        told = f"{path}: {name}"
        if changed == data:
            continue
        if changed is None or rng.random() < 0.4:
            yield told, tree.with_file(path, changed)
        else:
            yield f"{told}, lists repaired", relisted(tree, path, changed)


def _damage(rng: random.Random, data: bytes, other: bytes) -> tuple[str, bytes | None]:
    at = rng.randrange(len(data)) if data else 0
    lines = data.splitlines(keepends=True)
    line = rng.randrange(len(lines)) if lines else 0
    ways: list[tuple[str, bytes | None]] = [
        (f"a bit of byte {at}", flipped(data, at, 1 << rng.randrange(8))),
        (f"byte {at} left out", data[:at] + data[at + 1 :]),
        (f"a byte put in at {at}", data[:at] + bytes([rng.randrange(256)]) + data[at:]),
        (f"a digit at {at} exchanged", data[:at] + data[at:].translate(bytes.maketrans(b"123", b"231"), b"")),
        (f"cut short at {at}", data[:at]),
        ("left out", None),
        ("another file in its place", other),
        (f"line {line} twice", b"".join([*lines[:line], *lines[line : line + 1] * 2, *lines[line + 1 :]])),
        (f"line {line} left out", b"".join(lines[:line] + lines[line + 1 :])),
    ]
    return rng.choice(ways)


def flipped(data: bytes, at: int, bits: int) -> bytes:
    """The data with some bits of one byte turned."""
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :] if data else b"x"


def relisted(tree: PublicTree, path: str, changed: bytes) -> PublicTree:
    """The change with the hashes in `files.json` and `SHA256SUMS` exchanged for the new one."""
    old, new = (hashlib.sha256(data).hexdigest().encode() for data in (tree.get(path) or b"", changed))
    lists = [one for one in tree.paths() if one == FILES or one.endswith("/SHA256SUMS")]
    repaired = {one: (tree.get(one) or b"").replace(old, new) for one in lists if one != path}
    return tree.with_files({**repaired, path: changed})
