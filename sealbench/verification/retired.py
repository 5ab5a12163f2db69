"""Step 1 for retired batteries: sums, items, canary, the copy of verify.py, the copies in `record/`.

In a workspace every copy must equal its original. In a bundle checked by itself `record/` is all there
is: it must hold what the registry says belongs to this battery.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sealbench.errors import FormatError, SealError
from sealbench.formats.battery import Battery
from sealbench.publishing.bundle import SUMS, packaged_verifier
from sealbench.publishing.bundle_items import canary_text, item_lines
from sealbench.publishing.bundle_record import RECORD
from sealbench.store import ALLOWED_SIGNERS, HEADERS, PUBLIC_FOLDERS, REGISTRY
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.evidence import Evidence
from sealbench.verification.roles import battery_of, role_of
from sealbench.verification.steps import Results, StepResult, not_due, ok

STEP = 1
Problem = tuple[str, str]  # path, what is wrong with it
_SUM = re.compile(rb"([0-9a-f]{64})  ([A-Za-z0-9_./-]+)")
# What every bundle holds beside its record.
_OWN = (
    *("README.md", "key.json", "battery.json", "items.jsonl", "CANARY.txt"),
    *("croissant.json", "CITATION.cff", "LICENSE"),
)


def retired_problems(evidence: Evidence) -> Iterator[Problem]:
    """Everything in retired batteries' folders that does not follow from what it must follow from."""
    checks = {"sums": _check_sums, "items": _check_items, "canary": _check_canary, "copy": _check_copy}
    for path, data in evidence.tree.items():
        role = role_of(path)
        check = checks.get(role.kind)
        if check is None:
            continue
        try:
            check(evidence, role.name, data, path)
        except SealError as error:
            yield path, error.message.removeprefix(f"{path}: ").removeprefix(path).lstrip()


def _check_sums(evidence: Evidence, name: str, data: bytes, path: str) -> None:
    """SHA256SUMS as `sha256sum` writes it: every other file of its folder, each once, sorted."""
    named = []
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        match = _SUM.fullmatch(raw)
        if match is None:
            raise FormatError(f"line {number}: not a hash and a file name")
        listed = match.group(2).decode()
        named.append(listed)
        target = _listed_path(evidence, name, listed)
        if evidence.digest(target) != match.group(1).decode():
            raise FormatError(f"line {number}: {target} is missing or has another hash")
    unnamed = sorted(set(_own_paths(evidence, name)) - set(named))
    if unnamed:
        raise FormatError(f"{path}: does not name every file of its folder: {unnamed[0]} is left out")
    if not data.endswith(b"\n") or named != sorted(set(named)):
        raise FormatError(f"{path}: is not sorted, names a file twice, or is torn")


def _listed_path(evidence: Evidence, name: str, listed: str) -> str:
    """Where a file that SHA256SUMS names stands in the tree."""
    if evidence.tree.bundle == name and listed.startswith(f"{RECORD}/"):
        return listed.removeprefix(f"{RECORD}/")
    return f"batteries/{name}/{listed}"


def _own_paths(evidence: Evidence, name: str) -> Iterator[str]:
    """Every file of a retired battery's folder but its SHA256SUMS, as that names them."""
    folder = f"batteries/{name}"
    own = evidence.tree.below(folder)
    yield from (path.removeprefix(f"{folder}/") for path in own if path != f"{folder}/{SUMS}")
    if evidence.tree.bundle == name:
        others = set(evidence.tree.paths()) - set(own)
        yield from (f"{RECORD}/{path}" for path in others)


def _canary(evidence: Evidence, name: str) -> str:
    digest = evidence.digest(f"commitments/{name}.json")
    if digest is None:
        raise FormatError(f"commitments/{name}.json is missing, and the canary follows from it")
    return canary_text(digest)


def _check_items(evidence: Evidence, name: str, data: bytes, path: str) -> None:
    source = f"batteries/{name}/battery.json"
    if evidence.document(Battery, source) is None:
        raise FormatError(f"{source} is missing or unreadable, and {path} follows from it")
    expected = evidence.memo.call(expected_items, evidence.require(source), _canary(evidence, name))
    if data != expected:
        raise FormatError(f"{path}: does not hold the items of battery.json with the canary")


def expected_items(battery_bytes: bytes, canary: str) -> bytes:
    """`items.jsonl` of a battery."""
    return item_lines(Battery.from_bytes(battery_bytes).items, canary)


def _check_canary(evidence: Evidence, name: str, data: bytes, path: str) -> None:
    if data != _canary(evidence, name).encode() + b"\n":
        raise FormatError(f"{path}: is not the canary that follows from the commitment")


def _check_copy(evidence: Evidence, name: str, data: bytes, path: str) -> None:
    """A copy in a workspace: its original's bytes, or an earlier state of a file that grows."""
    source = path.removeprefix(f"batteries/{name}/{RECORD}/")
    original = evidence.tree.get(source)
    if source.split("/")[0] not in PUBLIC_FOLDERS or battery_of(source) is not None:
        raise FormatError(f"{path}: has no place in a record")
    # Proofs and headers are evidence of their own, whether or not the workspace still has them.
    if original is None and source != HEADERS and not source.endswith(".ots"):
        raise FormatError(f"{path}: is a copy of {source}, which is missing")
    if source == REGISTRY and original is not None:
        if not data.endswith(b"\n") or not original.startswith(data):
            raise FormatError(f"{path}: is not the beginning of {REGISTRY}")
    elif source == HEADERS:
        evidence.memo.call(HeaderStore.from_bytes, data)
    elif source.endswith(".ots"):
        _check_proof(evidence, source.removesuffix(".ots"), data, path)
    elif not _may_change(source) and data != original:
        raise FormatError(f"{path}: differs from {source}, of which it is a copy")


def _may_change(source: str) -> bool:
    """Files that later commands replace; the retire event alone binds their copies."""
    return source == ALLOWED_SIGNERS or re.fullmatch(r"runs/[^/]+/report\.[a-z]+", source) is not None


def _check_proof(evidence: Evidence, subject: str, data: bytes, path: str) -> None:
    """An earlier state of a proof commits to the same file."""
    if not evidence.check_proof(subject, data, path).commits:
        raise FormatError(f"{path}: is no proof of {subject}")


def bundle_problems(evidence: Evidence, name: str) -> Iterator[Problem]:
    """What a bundle by itself lacks: its own files, and what the registry says belongs to its battery."""
    for own in (*_OWN, SUMS):
        if f"batteries/{name}/{own}" not in evidence.tree:
            yield f"batteries/{name}/{own}", "is missing: every bundle holds it"
    for path in (REGISTRY, ALLOWED_SIGNERS, f"commitments/{name}.json"):
        if path not in evidence.tree:
            yield path, f"is missing in {RECORD}/: every bundle holds it"
    for path, (_, line) in evidence.bound_files.items():
        if path not in evidence.tree and not evidence.is_elsewhere(path):
            yield path, f"is missing in {RECORD}/: registry line {line} names it, and it is this battery's"


def elsewhere(evidence: Evidence) -> Iterator[StepResult]:
    """Files of other batteries that the registry names: no part of a bundle, and said so."""
    paths = [path for path in evidence.bound_files if evidence.is_elsewhere(path)]
    if paths:
        told = f"{len(paths)} files of other batteries that the registry names are not part of this bundle"
        yield not_due(STEP, REGISTRY, told)


def verifier_copies(evidence: Evidence) -> Results:
    """Each copy of verify.py against the one of this release; a forger would write it, so it is never run."""
    for path in evidence.paths("verifier"):
        if evidence.tree.get(path) == packaged_verifier():
            yield ok(STEP, path, "is the stand-alone verifier of this release; not run")
        else:
            yield not_due(STEP, path, "differs from the stand-alone verifier of this release; not run")
