"""The complete workspace of the tamper suite, and a retired battery's bundle, as trees in memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sealbench.verification.bundle import read_bundle
from sealbench.verification.tree import PublicTree

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "verification"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "tasks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "timestamps"))

from complete_workspace import build_workspace


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which every kind of public file occurs and everything verifies."""
    return build_workspace(Path(tmp_path_factory.mktemp("standalone")) / "workspace").root


@pytest.fixture(scope="session")
def tree(complete: Path) -> PublicTree:
    return PublicTree.from_folder(complete)


@pytest.fixture(scope="session")
def bundle(complete: Path) -> PublicTree:
    """The retired battery's folder by itself, laid out as its verifiers do."""
    return read_bundle(complete / "batteries" / "primes")
