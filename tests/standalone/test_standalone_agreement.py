"""Both verifiers say the same on every step that both perform, whatever is done to the files."""

from __future__ import annotations

from collections import Counter

import pytest
from agreement import LEFT, by_package, by_standalone, differences
from tampering import tampered

from sealbench.standalone import verify
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

SEED = 20261130
REGTEST = verify.Policy("regtest")


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier(Policy(network="regtest"))


def compare(tree: PublicTree, verifier: Verifier, count: int, seed: int) -> Counter[str]:
    """Damage the tree `count` times; the verifiers must agree each time, and refuse what is false."""
    figures: Counter[str] = Counter()
    for told, damaged in tampered(tree, count, seed):
        package, standalone = by_package(verifier, damaged), by_standalone(damaged, REGTEST)
        found = [one for one in differences(package, standalone) if one not in LEFT]
        assert not found, f"{told}: {found}"
        same_verdict = ("fail" in package.values()) == ("fail" in standalone.values())
        assert same_verdict, f"{told}: {package}, {standalone}"
        figures["tried"] += 1
        figures["false for both"] += "fail" in standalone.values()
        figures["same on all twelve steps"] += package == standalone
    return figures


def test_both_find_the_workspace_whole(tree: PublicTree, verifier: Verifier) -> None:
    assert by_package(verifier, tree) == by_standalone(tree, REGTEST) == dict.fromkeys(range(1, 13), "ok")


def test_random_tampering(tree: PublicTree, verifier: Verifier) -> None:
    figures = compare(tree, verifier, 150, SEED)
    assert figures["false for both"] > 120
    assert figures["same on all twelve steps"] > 120


@pytest.mark.slow
def test_5000_random_tamperings(
    tree: PublicTree, verifier: Verifier, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = compare(tree, verifier, 5_000, SEED + 1)
    with capsys.disabled():
        print(f"\nboth verifiers: {dict(figures)}")  # noqa: T201
    assert figures["tried"] > 4_500


@pytest.mark.parametrize("network", ["mainnet", "regtest"])
def test_both_use_the_network_that_the_caller_chose(tree: PublicTree, network: str) -> None:
    package = by_package(Verifier(Policy(network=network)), tree)
    assert package == by_standalone(tree, verify.Policy(network))


def test_every_allowed_difference_has_a_reason() -> None:
    assert all(reason and package != standalone for (_, package, standalone), reason in LEFT.items())
