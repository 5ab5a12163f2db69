"""One complete workspace per test session, and its tree in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from complete_workspace import build_workspace

from sealbench.crypto.signature import AuthorKey
from sealbench.store import Workspace
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return build_workspace(Path(tmp_path_factory.mktemp("complete")) / "workspace")


@pytest.fixture(scope="session")
def tree(workspace: Workspace) -> PublicTree:
    return PublicTree.from_folder(workspace.root)


@pytest.fixture(scope="session")
def author(workspace: Workspace) -> AuthorKey:
    return AuthorKey.from_openssh(workspace.author_key.read_bytes())


@pytest.fixture(scope="session")
def verifier() -> Verifier:
    """By regtest's rules; it remembers what it checked, across tests."""
    return Verifier(Policy(network="regtest"))


@pytest.fixture(scope="session")
def lenient() -> Verifier:
    """By regtest's rules, with missing proofs of time waived: for forgeries that cannot be in a block."""
    return Verifier(Policy(network="regtest", accept_unanchored=True))
