"""Step 1: every file parses, equals its own re-encoding, is listed, and is unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from sealbench.errors import FormatError, SealError
from sealbench.formats.base import Record
from sealbench.formats.registry import PublicFiles
from sealbench.store import FILES, REGISTRY
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.evidence import Evidence, parse_document
from sealbench.verification.lines import SMALL, check_each_line, parse_lines
from sealbench.verification.retired import bundle_problems, elsewhere, retired_problems, verifier_copies
from sealbench.verification.roles import SIGNED, Kind, Role, role_of, run_of
from sealbench.verification.steps import Results, fail, ok

STEP = 1
Problem = tuple[str, str]  # path, what is wrong with it
# Files whose own `name` must be the one in their path, so that no two can be exchanged.
_NAMED: frozenset[Kind] = frozenset({"commitment", "draft", "sealed", "battery", "key", "plan", "run"})


def check_files(evidence: Evidence) -> Results:
    """Yield every file that does not parse, is missing, changed, or not listed; else one OK."""
    bundle = evidence.tree.bundle
    listed = _unlisted(evidence) if bundle is None else bundle_problems(evidence, bundle)
    problems = [*_unparsable(evidence), *retired_problems(evidence), *listed]
    for path, reason in problems:
        yield fail(STEP, path, reason)
    if not problems:
        count = len(evidence.tree)
        subject = FILES if bundle is None else f"batteries/{bundle}/SHA256SUMS"
        yield ok(STEP, subject, f"{count} files parse, equal their own re-encoding, and are as listed")
    yield from verifier_copies(evidence)
    if bundle is not None:
        yield from elsewhere(evidence)


def _unparsable(evidence: Evidence) -> Iterator[Problem]:
    for path, data in evidence.tree.items():
        try:
            role = role_of(path)
            if role.model is not None and role.lines:
                _check_lines(evidence, role, data, path)
            elif role.model is not None:
                record = evidence.memo.call(parse_document, role.model, data, path)
                _check_name(record, role.kind, role.name, path)
            else:
                _check_other(evidence, role.kind, role.name, data, path)
        except SealError as error:
            message = error.message.removeprefix(f"{path}: ").removeprefix(path).lstrip()
            yield path, message


def _check_lines(evidence: Evidence, role: Role, data: bytes, path: str) -> None:
    memo = evidence.memo
    if role.model is None:
        return
    if role.kind == "log":
        memo.call(parse_lines, memo, role.model, data, path)  # step 10 and 11 need them again
    elif len(data) <= SMALL:
        memo.call(check_each_line, memo, role.model, data, path)
    else:
        memo.costly(check_each_line, memo, role.model, data, path)


def _check_name(record: Record, kind: Kind, name: str, path: str) -> None:
    if kind in _NAMED and getattr(record, "name", name) != name:
        raise FormatError(f"{path}: calls itself {getattr(record, 'name', '')}")
    if kind == "checkpoint" and str(getattr(record, "size", "")) != name:
        raise FormatError(f"{path}: holds a checkpoint of size {getattr(record, 'size', '')}")
    if kind in ("reveal", "subset") and getattr(record, "battery", name) != name:
        raise FormatError(f"{path}: is about battery {getattr(record, 'battery', '')}")
    if kind == "report" and getattr(record, "run", name) != name:
        raise FormatError(f"{path}: is the report of run {getattr(record, 'run', '')}")


def _check_other(evidence: Evidence, kind: Kind, name: str, data: bytes, path: str) -> None:
    """Files without a model: headers, proofs, signatures. What a retired battery adds is in retired.py."""
    if kind == "headers":
        evidence.memo.call(HeaderStore.from_bytes, data)
    elif kind == "proof":
        _require_subject(evidence, name, path)
        evidence.check_proof(name, data, path)
    elif kind == "signature":
        _require_subject(evidence, name, path)
        if role_of(name).kind not in SIGNED:
            raise FormatError(f"{path}: a signature of a file that no registry signs")


def _require_subject(evidence: Evidence, name: str, path: str) -> None:
    if name not in evidence.tree:
        raise FormatError(f"{path}: the file it belongs to, {name}, is missing")


def _unlisted(evidence: Evidence) -> Iterator[Problem]:
    """Differences between `files.json` and what is there."""
    if REGISTRY not in evidence.tree:
        yield REGISTRY, "is missing: without it no event of this workspace can be checked"
    if FILES not in evidence.tree:
        yield FILES, "is missing"
        return
    listed = evidence.document(PublicFiles, FILES)
    if listed is None:
        return
    hashes = {file.path: file.sha256 for file in listed.files}
    paths = [file.path for file in listed.files]
    if paths != sorted(set(paths)) or FILES in hashes:
        yield FILES, "its entries are not sorted, not unique, or name the list itself"
    for path, expected in hashes.items():
        found = evidence.digest(path)
        if found is None:
            yield path, f"is missing, but listed in {FILES}"
        elif found != expected:
            yield path, f"was changed: its SHA-256 is {found}, {FILES} says {expected}"
    finished = evidence.subjects("run_end", "run_abort")
    for path in evidence.tree.paths():
        unfinished = run_of(path) is not None and run_of(path) not in finished
        if path not in hashes and path != FILES and not unfinished:
            yield path, f"is not listed in {FILES}"
