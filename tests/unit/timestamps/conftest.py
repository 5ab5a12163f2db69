"""The synthetic chain is mined once per session: some six thousand headers at toy difficulty."""

from __future__ import annotations

import pytest
from timestamps_support import SyntheticChain, make_chain


@pytest.fixture(scope="session")
def synthetic() -> SyntheticChain:
    return make_chain()
