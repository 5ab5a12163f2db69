"""Both verifiers say the same on every step that both perform, whatever is done to the files."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from agreement import LEFT, by_package, by_standalone, differences
from tampering import flipped, relisted, tampered

from sealbench.standalone import verify
from sealbench.store import REGISTRY
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
        # What no registry line binds: a proof that the report names; in a bundle a response's text, too.
        unbound = {(11, "fail", "ok"), *([(10, "fail", "ok")] if damaged.bundle else [])}
        left = unbound & {*differences(package, standalone)}
        assert same_verdict or left, f"{told}: {package}, {standalone}"
        figures["tried"] += 1
        figures["false for seal verify alone"] += not same_verdict
        figures["false for both"] += "fail" in standalone.values()
        figures["same on all twelve steps"] += package == standalone
    return figures


def test_both_find_the_workspace_whole(tree: PublicTree, verifier: Verifier) -> None:
    assert by_package(verifier, tree) == by_standalone(tree, REGTEST) == dict.fromkeys(range(1, 13), "ok")


def test_both_find_the_bundle_whole(bundle: PublicTree, verifier: Verifier) -> None:
    package, standalone = by_package(verifier, bundle), by_standalone(bundle, REGTEST)
    assert package == standalone == dict.fromkeys(range(1, 13), "ok")


@pytest.mark.parametrize("which", ["tree", "bundle"])
def test_random_tampering(which: str, verifier: Verifier, request: pytest.FixtureRequest) -> None:
    figures = compare(request.getfixturevalue(which), verifier, 75, SEED)
    assert figures["false for both"] > 60
    assert figures["same on all twelve steps"] > 60


@pytest.mark.slow
def test_5000_random_tamperings(
    tree: PublicTree, bundle: PublicTree, verifier: Verifier, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = compare(tree, verifier, 2_500, SEED + 1) + compare(bundle, verifier, 2_500, SEED + 2)
    with capsys.disabled():
        print(f"\nboth verifiers: {dict(figures)}")  # noqa: T201
    assert figures["tried"] > 4_500


@pytest.mark.parametrize("network", ["mainnet", "regtest"])
def test_both_use_the_network_that_the_caller_chose(tree: PublicTree, network: str) -> None:
    package = by_package(Verifier(Policy(network=network)), tree)
    assert package == by_standalone(tree, verify.Policy(network))


def test_every_allowed_difference_has_a_reason() -> None:
    assert all(reason and package != standalone for (_, package, standalone), reason in LEFT.items())


def test_one_byte_changed_anywhere_in_a_bundle_is_found(bundle: PublicTree) -> None:
    """Every file of the bundle, one byte each."""
    rng = random.Random(SEED)
    for path in bundle.paths():
        data = bundle.get(path) or b""
        changed = flipped(data, rng.randrange(len(data)), 1 << rng.randrange(8))
        found = by_standalone(bundle.with_file(path, changed), REGTEST)
        assert found[1] == "fail", path


def test_one_byte_is_found_even_if_the_sums_are_made_again(
    bundle: PublicTree,
) -> None:
    """What only SHA256SUMS binds can be replaced by anyone who makes the sums again, and nothing else.

    The responses' `text`, which has to be read from their bodies again, is left to `seal verify`.
    """
    unbound = {
        f"batteries/primes/{name}" for name in ("README.md", "LICENSE", "CITATION.cff", "croissant.json")
    }
    unbound |= {"batteries/primes/verify.py", "batteries/primes/SHA256SUMS"}
    rng = random.Random(SEED)
    for path in bundle.paths():
        data = bundle.get(path) or b""
        at = rng.randrange(len(data))
        if "/responses/" in path:
            at = data.index(b'"body":"') + 9
        elif path.endswith(".ots"):
            at = 40  # in the file's hash; a calendar's address further on is bound by nothing
        found = by_standalone(relisted(bundle, path, flipped(data, at, 1)), REGTEST)
        assert ("fail" in found.values()) == (path not in unbound or path.endswith("SUMS")), f"{path}, {at}"


@pytest.mark.parametrize("value", [[], {}, 5, True, None], ids=repr)
@pytest.mark.parametrize("event", ["preregister", "run_start"])
def test_events_that_name_a_battery_by_no_text_are_false_for_both(
    tree: PublicTree, verifier: Verifier, event: str, value: object
) -> None:
    previous, lines = "0" * 64, []
    for raw in (tree.get(REGISTRY) or b"").splitlines():
        line = json.loads(raw)
        if line["event"] == event:
            line["detail"]["battery"] = value
        lines.append(verify.canonical({**line, "prev": previous}) + b"\n")
        previous = verify.sha256(lines[-1][:-1])
    changed = tree.with_file(REGISTRY, b"".join(lines))
    assert by_package(verifier, changed)[8] == by_standalone(changed, REGTEST)[8] == "fail"
