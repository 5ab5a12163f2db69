"""No checkpoint table of the user's; the synthetic chain, mined once per session at toy difficulty."""

from __future__ import annotations

import pytest
from timestamps_support import SyntheticChain, make_chain


@pytest.fixture(autouse=True)
def _no_user_table(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "no-data"))


@pytest.fixture(scope="session")
def synthetic() -> SyntheticChain:
    return make_chain()
