"""Check a workspace by the verifier's own policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.crypto.signature import PublicKey
from sealbench.errors import UsageError
from sealbench.formats.registry import Checkpoint
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.policy import DEFAULT_GRADE, Policy
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier


def make_policy(
    *,
    network: str = "mainnet",
    minimum_grade: str = DEFAULT_GRADE,
    keys: tuple[Path, ...] = (),
    headers: Path | None = None,
    since: Path | None = None,
    accept_unanchored: bool = False,
    clock: Clock = system_clock,
) -> Policy:
    """A policy from the files a caller names.

    Raises
    ------
    UsageError : a key file, header file or checkpoint cannot be read.
    """
    return Policy(
        network=network,
        minimum_grade=minimum_grade,
        trusted_keys=tuple(key for path in keys for key in _read_keys(path)),
        headers=HeaderStore.read(_given(headers)) if headers else None,
        since=Checkpoint.from_bytes(_given(since), str(since)) if since else None,
        accept_unanchored=accept_unanchored,
        at=clock(),
    )


def verify_workspace(root: Path, *, network: str = "mainnet", policy: Policy | None = None) -> Verification:
    """All twelve steps over the public folders of a workspace; reads files, writes nothing.

    Raises
    ------
    UsageError : no registry there, so there is nothing to verify.
    """
    if not (root / store.REGISTRY).is_file():
        raise UsageError(
            f"{root} is no workspace: it has no {store.REGISTRY}",
            hint="seal verify FOLDER, or FILE with FILE.ots",
        )
    chosen = policy or replace(make_policy(), network=network)
    return Verifier(chosen).verify(PublicTree.from_folder(root))


def _given(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})", hint="check the path") from error


def _read_keys(path: Path) -> list[PublicKey]:
    """Public keys of a `.pub` file or of an allowed_signers file."""
    try:
        lines = _given(path).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a public key file", hint="--key author.pub") from error
    keys = []
    for line in lines:
        marker = line.find("ssh-ed25519 ")
        if marker >= 0 and not line.startswith("#"):
            keys.append(PublicKey.from_openssh(line[marker:], str(path)))
    if not keys:
        raise UsageError(f"{path}: holds no ssh-ed25519 public key", hint="--key author.pub")
    return keys
