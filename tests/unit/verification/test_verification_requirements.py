"""Keys, hashes and numbers of open items that a caller demands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.errors import UsageError
from sealbench.formats.allowed_signers import NamedKey
from sealbench.store import Workspace
from sealbench.verification.bundle import read_bundle
from sealbench.verification.policy import Policy, Requirement
from sealbench.verification.requirements import AtLeastRevealed, ExpectedHash, TrustedKeys
from sealbench.verification.scope import Part
from sealbench.verification.steps import RequirementResult, Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

PRIMES, PAIRS = Part("battery", "primes"), Part("battery", "pairs")


def demand(verifier: Verifier, tree: PublicTree, required: Requirement, *parts: Part) -> Verification:
    """As the shared verifier, with one requirement."""
    kept = verifier.policy
    verifier.policy = replace(kept, requirements=(required,))
    try:
        return verifier.verify(tree, parts)
    finally:
        verifier.policy = kept


def only(result: Verification) -> RequirementResult:
    (one,) = result.requirements
    return one


def test_a_hash_from_paper(verifier: Verifier, tree: PublicTree) -> None:
    data = tree.get("commitments/primes.json")
    assert data is not None
    result = demand(verifier, tree, ExpectedHash(f" {sha256_hex(data).upper()}\n"))
    assert result.verdict == "ok"
    assert only(result).detail == f"{sha256_hex(data)} is the file commitments/primes.json"
    inside = demand(verifier, tree, ExpectedHash(sha256_hex(data)), PRIMES)
    assert only(inside).status == "ok"
    outside = demand(verifier, tree, ExpectedHash(sha256_hex(data)), PAIRS)
    assert outside.verdict == "fail" and "no part of what was asked for" in only(outside).detail
    nothing = demand(verifier, tree, ExpectedHash("0" * 64))
    assert nothing.verdict == "fail" and nothing.exit_code == 1
    assert only(nothing).detail == f"nothing here has the SHA-256 {'0' * 64}"


def test_roots_and_heads_are_found_too(verifier: Verifier, tree: PublicTree) -> None:
    import json

    commitment = tree.get("commitments/pairs.json")
    registry = tree.get("commitments/registry.jsonl")
    assert commitment is not None and registry is not None
    root = demand(verifier, tree, ExpectedHash(json.loads(commitment)["root"]))
    assert only(root).detail.endswith("is the root of battery pairs")
    lines = registry.split(b"\n")[:-1]
    head = demand(verifier, tree, ExpectedHash(sha256_hex(lines[-1])), PRIMES)
    assert only(head).detail.endswith(f"is the registry's head, line {len(lines)} of {len(lines)}")
    older = demand(verifier, tree, ExpectedHash(sha256_hex(lines[2])))
    assert f"an earlier head of the registry, line 3 of {len(lines)}" in only(older).detail


def test_the_hash_of_an_archive_around_the_tree(verifier: Verifier, tree: PublicTree) -> None:
    required = ExpectedHash("0" * 64).knowing("the archive a.tar", "0" * 64)
    for parts in ((), (PAIRS,)):
        result = demand(verifier, tree, required, *parts)
        assert only(result).detail == f"{'0' * 64} is the archive a.tar"


def test_a_bundle_answers_for_its_own_battery(verifier: Verifier, workspace: Workspace) -> None:
    bundle = read_bundle(workspace.root / "batteries" / "primes")
    result = demand(verifier, bundle, AtLeastRevealed("all"))
    assert only(result).detail == "6 of 6 items of primes are open, wanted are 6"


@pytest.mark.parametrize("text", ["", "abc", "0" * 63, "0" * 65, "g" * 64, "sha256:" + "0" * 64])
def test_what_is_no_hash(text: str) -> None:
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        ExpectedHash(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "every", "²", "all "])
def test_what_is_no_number_of_items(text: str) -> None:
    with pytest.raises(UsageError, match="a number of items from 1, or all"):
        AtLeastRevealed(text)


@pytest.mark.parametrize(
    ("text", "part", "status", "verdict", "words"),
    [
        ("all", PRIMES, "ok", "ok", "6 of 6 items of primes are open, wanted are 6"),
        ("6", PRIMES, "ok", "ok", "wanted are 6"),
        ("7", PRIMES, "fail", "fail", "wanted are 7: more than there are"),
        ("1", PAIRS, "pending", "pending", "0 of 6 items of pairs are open, wanted are 1"),
        ("all", PAIRS, "pending", "pending", "wanted are 6"),
        ("1", Part("run", "primes-plan-1"), "ok", "ok", "6 of 6 items of primes"),
    ],
)
def test_open_items(
    verifier: Verifier, tree: PublicTree, text: str, part: Part, status: str, verdict: str, words: str
) -> None:
    result = demand(verifier, tree, AtLeastRevealed(text), part)
    assert (only(result).status, result.verdict) == (status, verdict)
    assert words in only(result).detail


def test_every_battery_of_a_workspace_must_be_open(verifier: Verifier, tree: PublicTree) -> None:
    result = demand(verifier, tree, AtLeastRevealed("all"))
    assert sorted(one.status for one in result.requirements) == ["ok", "pending", "pending"]
    assert result.exit_code == 3


def test_items_that_do_not_open_do_not_count(verifier: Verifier, tree: PublicTree) -> None:
    key = tree.get("batteries/primes/key.json")
    assert key is not None
    wrong = tree.with_file(
        "batteries/primes/key.json", key.replace(b'"secret":"', b'"secret":"0')[:-2] + b"}"
    )
    result = demand(verifier, wrong, AtLeastRevealed("all"), PRIMES)
    assert (only(result).status, result.verdict) == ("pending", "fail")


def test_no_battery_is_never_revealed(verifier: Verifier, tree: PublicTree) -> None:
    bare = PublicTree({path: data for path, data in tree.items() if "registry" in path})
    assert only(demand(verifier, bare, AtLeastRevealed("1"))).status == "fail"


def test_trusted_keys(verifier: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    stranger = AuthorKey.generate().public
    good = TrustedKeys(
        (NamedKey(stranger, "", "a.pub line 1"), NamedKey(author.public, "ada@example.org", "b line 2"))
    )
    result = demand(verifier, tree, good)
    assert only(result).status == "ok"
    assert only(result).detail.endswith("keeps this registry: the key of ada@example.org in b line 2")
    bad = demand(verifier, tree, TrustedKeys((NamedKey(stranger, "", "a.pub line 1"),)))
    assert bad.verdict == "fail" and stranger.fingerprint in only(bad).detail
    unreadable = demand(verifier, tree.with_file("commitments/registry.jsonl", b"x\n"), good)
    assert only(unreadable).status == "fail" and "no readable key" in only(unreadable).detail


def test_time_that_is_waived_waives_no_requirement(tree: PublicTree) -> None:
    policy = Policy(network="regtest", accept_unanchored=True, requirements=(AtLeastRevealed("1"),))
    assert Verifier(policy).verify(tree, [PAIRS]).verdict == "pending"


def test_results_are_in_the_json(verifier: Verifier, tree: PublicTree) -> None:
    value = demand(verifier, tree, AtLeastRevealed("all"), PRIMES).to_json()
    assert value["schema"] == "sealbench/verify/v1"
    assert value["subject"].startswith("battery primes")
    assert value["requirements"] == [
        {"name": "revealed", "status": "ok", "detail": "6 of 6 items of primes are open, wanted are 6"}
    ]
    assert all(one["status"] != "fail" for one in value["elsewhere"])
