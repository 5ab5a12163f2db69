"""A complete workspace for the tamper suite, and the figures it prints at the end: tried, caught, how."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealbench.testing.calendar import CalendarServer
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Seal

# The builder and the forger are shared with the unit tests of verification.
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "verification"))

from complete_workspace import build_workspace

FIGURES: dict[str, Counter[str]] = {}


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> PublicTree:
    root = Path(tmp_path_factory.mktemp("tamper")) / "workspace"
    return PublicTree.from_folder(build_workspace(root).root)


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> PublicTree:
    """Another author's workspace with the same names."""
    root = Path(tmp_path_factory.mktemp("stranger")) / "workspace"
    return PublicTree.from_folder(build_workspace(root).root)


@pytest.fixture(scope="session")
def verifier() -> Verifier:
    return Verifier(Policy(network="regtest"))


@pytest.fixture
def beacon_root(seal: Seal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a workspace with a battery drawn from a beacon block, everything anchored."""
    from sealbench.stages.init import init

    with CalendarServer() as calendar:
        calendar.mine(5)
        root = tmp_path / "w"
        init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        monkeypatch.chdir(root)
        announced = seal("create", "primality", "--name", "later", "--per-class", "4", "--beacon", "+30")
        assert announced.code == 0, announced.err
        calendar.mine()
        assert seal("upgrade").code == 0
        calendar.chain.mine(40)
        assert seal("upgrade").code == 0
        drawn = seal("create", "--from-draft", "later")
        assert drawn.code == 0, drawn.err
        calendar.mine()
        assert seal("upgrade").code == 0
        yield root


@pytest.fixture
def beacon(beacon_root: Path) -> PublicTree:
    """A battery drawn from a beacon block, everything anchored."""
    return PublicTree.from_folder(beacon_root)


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Counter[str]:
    """Counts of one test, printed when all are done."""
    return FIGURES.setdefault(request.node.name, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, counts in FIGURES.items():
        listed = ", ".join(f"{key} {count}" for key, count in sorted(counts.items(), key=lambda one: one[0]))
        terminalreporter.write_line(f"tamper: {name}: {listed}")
