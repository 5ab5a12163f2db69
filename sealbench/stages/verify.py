"""Check a workspace, or parts of it, by the verifier's own policy."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.errors import FormatError, UsageError
from sealbench.formats.allowed_signers import NamedKey, read_signers
from sealbench.formats.registry import Checkpoint
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.bundle import is_bundle, read_bundle
from sealbench.verification.memo import Elsewhere
from sealbench.verification.policy import DEFAULT_GRADE, Policy, Requirement
from sealbench.verification.requirements import AtLeastRevealed, ExpectedHash, TrustedKeys
from sealbench.verification.scope import Part
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from sealbench.workers.processes import processes

# Bytes of published batteries and logs for each process. With small items a second one pays from about a
# million on (docs/scaling.md); items that are hard to certify cost more by the byte, so it may begin earlier.
_BYTES_EACH = 300_000


def make_policy(
    *,
    network: str = "mainnet",
    minimum_grade: str = DEFAULT_GRADE,
    keys: Sequence[Path] = (),
    allowed_signers: Sequence[Path] = (),
    headers: Path | None = None,
    since: Path | None = None,
    accept_unanchored: bool = False,
    expected_hashes: Sequence[str] = (),
    at_least_revealed: str | None = None,
    clock: Clock = system_clock,
) -> Policy:
    """A policy from the files and values a caller names.

    Raises
    ------
    UsageError : a key file, header file or checkpoint cannot be read; a hash or number is none.
    """
    at = clock()
    named = [key for path in keys for key in _read_keys(path, at, principals=False)]
    named += [key for path in allowed_signers for key in _read_keys(path, at, principals=True)]
    requirements: list[Requirement] = [TrustedKeys(tuple(named))] if named else []
    requirements += [ExpectedHash(text) for text in expected_hashes]
    if at_least_revealed is not None:
        requirements.append(AtLeastRevealed(at_least_revealed))
    return Policy(
        network=network,
        minimum_grade=minimum_grade,
        trusted_keys=tuple(one.key for one in named),
        headers=HeaderStore.read(_given(headers)) if headers else None,
        since=Checkpoint.from_bytes(_given(since), str(since)) if since else None,
        accept_unanchored=accept_unanchored,
        at=at,
        requirements=tuple(requirements),
    )


def knowing_archive(policy: Policy, named: str, sha256: str) -> Policy:
    """The policy for what was unpacked from an archive: an expected hash may be the archive's own."""
    requirements = [
        one.knowing(f"the archive {named}", sha256) if isinstance(one, ExpectedHash) else one
        for one in policy.requirements
    ]
    return replace(policy, requirements=tuple(requirements))


def verify_workspace(
    root: Path,
    *,
    network: str = "mainnet",
    policy: Policy | None = None,
    parts: Sequence[Part] = (),
    jobs: int = 1,
    executor: Executor | None = None,
) -> Verification:
    """All twelve steps over a workspace or a retired battery's bundle; reads files, writes nothing.

    Parameters
    ----------
    parts : judge only these parts and what they rest on; without any, the whole.
    jobs : processes, at most, that share the costly checks; small batteries and runs get fewer.
    executor : does them instead, that many at a time. The results never depend on either.

    Raises
    ------
    UsageError : no registry there, so there is nothing to verify; or no such part.
    """
    chosen = policy or replace(make_policy(), network=network)
    tree = read_bundle(root) if is_bundle(root) else _read_workspace(root)
    if executor is not None:
        return Verifier(chosen, Elsewhere(executor, jobs)).verify(tree, parts)
    costly = _costly_subjects(tree)
    jobs = min(jobs, len(costly), sum(costly) // _BYTES_EACH)
    if jobs < 2:
        return Verifier(chosen).verify(tree, parts)
    with processes(jobs) as found:
        elsewhere = None if found is None else Elsewhere(found, jobs)
        return Verifier(chosen, elsewhere).verify(tree, parts)


def _read_workspace(root: Path) -> PublicTree:
    if not (root / store.REGISTRY).is_file():
        raise UsageError(
            f"{root} is no workspace: it has no {store.REGISTRY}",
            hint="seal verify FOLDER, or FILE with FILE.ots",
        )
    return PublicTree.from_folder(root)


def _costly_subjects(tree: PublicTree) -> list[int]:
    """Sizes of published batteries and logs: what is drawn, certified or computed again."""
    ends = {"batteries": "/battery.json", "runs": "/log.jsonl"}
    return [len(data) for path, data in tree.items() if path.endswith(ends.get(path.partition("/")[0], "\n"))]


def _given(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})", hint="check the path") from error


def _read_keys(path: Path, at: datetime, *, principals: bool) -> list[NamedKey]:
    """Public keys of a `.pub` file (unless `principals`) or of an allowed_signers file."""
    option = "--allowed-signers allowed_signers" if principals else "--key author.pub"
    try:
        return read_signers(_given(path), str(path), at, principals=principals)
    except FormatError as error:
        raise UsageError(
            error.message, hint=f"{option}; `ssh-keygen -l -f {path}` shows what it holds"
        ) from error
