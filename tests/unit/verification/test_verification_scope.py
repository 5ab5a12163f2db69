"""Parts of a workspace: what they rest on is judged, what they do not rest on is counted elsewhere."""

from __future__ import annotations

import pytest

from sealbench.errors import UsageError
from sealbench.stages.derive import derive
from sealbench.stages.preregister import preregister
from sealbench.store import FILES
from sealbench.verification.scope import Part, part_of
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.workshop import PLAN, sealed

RUN = Part("run", "primes-plan-1")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("commitments/primes.json", Part("commitment", "primes")),
        ("commitments/primes.json.ots", Part("commitment", "primes")),
        ("commitments/primes.draft.json.sig", Part("commitment", "primes")),
        ("commitments/reveals/primes-1.json", Part("battery", "primes")),
        ("batteries/primes.sealed.json", Part("battery", "primes")),
        ("batteries/primes/key.json", Part("battery", "primes")),
        ("preregistrations/p.json", Part("plan", "p")),
        ("runs/r/log.jsonl", Part("run", "r")),
        ("commitments/registry.jsonl", None),
        ("commitments/checkpoints/3.json.sig", None),
        ("commitments/files.json", None),
    ],
)
def test_whose_a_path_is(path: str, expected: Part | None) -> None:
    assert part_of(path) == expected


@pytest.mark.parametrize(
    ("part", "rests_on"),
    [
        (RUN, "battery primes, plan primes-plan, registry and keys"),
        (Part("plan", "pairs-plan"), "commitment pairs, registry and keys"),
        (Part("battery", "primes"), "registry and keys"),
        (Part("commitment", "spare"), "registry and keys"),
        (Part("run", "pairs-exploratory-1"), "battery pairs, registry and keys"),
    ],
)
def test_each_part_of_a_whole_workspace_is_ok(
    verifier: Verifier, tree: PublicTree, part: Part, rests_on: str
) -> None:
    result = verifier.verify(tree, [part])
    assert result.verdict == "ok"
    assert result.subject == f"{part.kind} {part.name}; rests on {rests_on}"
    assert {one.step for one in result.steps} == set(range(1, 13))
    everything = verifier.verify(tree).steps
    assert {one.subject for one in result.steps} <= {one.subject for one in everything}


# What is damaged, and whether (a run of primes, the sealed battery pairs) are still good.
DAMAGES = [
    ("runs/primes-plan-1/log.jsonl", False, True),
    ("runs/primes-plan-1/report.json", False, True),
    ("preregistrations/primes-plan.json", False, True),
    ("commitments/primes.json.sig", False, True),
    ("commitments/primes.json.ots", False, True),
    ("batteries/primes/battery.json", False, True),
    ("batteries/primes/key.json", False, True),
    ("batteries/primes.sealed.json", False, True),
    ("batteries/pairs.sealed.json", True, False),
    ("commitments/pairs.json", True, False),
    ("runs/pairs-plan-1/log.jsonl", True, True),
    ("preregistrations/pairs-plan.json", True, True),
    ("commitments/spare.json.sig", True, True),
    ("commitments/registry.jsonl", False, False),
    ("commitments/files.json", False, False),
    ("commitments/allowed_signers", False, False),
    ("commitments/headers.bin", False, False),
    ("commitments/checkpoints/3.json", False, False),
    ("commitments/checkpoints/3.json.sig", False, False),
]


@pytest.mark.parametrize(("path", "run_is_good", "pairs_are_good"), DAMAGES)
@pytest.mark.parametrize("removed", [False, True])
def test_damage_fails_what_rests_on_it(
    verifier: Verifier, tree: PublicTree, path: str, run_is_good: bool, pairs_are_good: bool, removed: bool
) -> None:
    data = tree.get(path)
    assert data is not None
    # In the middle of the list may stand the hash of a file that a part does not rest on.
    middle = 0 if path == FILES else len(data) // 2
    damaged = tree.with_file(
        path, None if removed else data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    )
    assert verifier.verify(damaged).verdict == "fail"
    for part, good in ((RUN, run_is_good), (Part("battery", "pairs"), pairs_are_good)):
        result = verifier.verify(damaged, [part])
        assert result.verdict == ("ok" if good else "fail"), [one for one in result.steps if one.step < 9]
        if good:
            assert any(one.status == "fail" for one in result.elsewhere)
            assert {one.step for one in result.steps} == set(range(1, 13))


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> PublicTree:
    """A battery `primes`, a smaller one `half` out of it, a plan, and an amendment of that plan."""
    root = tmp_path_factory.mktemp("derived") / "workspace"
    workspace, settings = sealed(root)
    derive(workspace, ["primality"], parent="primes", name="half", per_class=1)
    source = root / "plan.toml"
    text = PLAN.format(
        endpoints='["reference/solver"]', caps=[300], repeats=1, first="reference/solver", cap=300
    )
    source.write_text(text)
    for plan, amends in (("plan", None), ("plan-again", "plan")):
        preregister(
            workspace, "primes", plan=plan, source=source, settings=settings, force=True, amends=amends
        )
    return PublicTree.from_folder(root)


@pytest.mark.parametrize(
    ("part", "rests_on", "needed"),
    [
        (Part("battery", "half"), "battery primes", "batteries/primes.sealed.json"),
        (Part("commitment", "half"), "commitment primes", "commitments/primes.json"),
        (Part("plan", "plan-again"), "commitment primes, plan plan", "preregistrations/plan.json"),
    ],
)
def test_parents_and_amended_plans_are_rested_on(
    lenient: Verifier, derived: PublicTree, part: Part, rests_on: str, needed: str
) -> None:
    good = lenient.verify(derived, [part])
    assert good.verdict == "ok_except_time"
    assert good.subject == f"{part.kind} {part.name}; rests on {rests_on}, registry and keys"
    damaged = derived.with_file(needed, b"{}")
    assert lenient.verify(damaged, [part]).verdict == "fail"


def test_responses_of_another_run_are_no_part_of_a_run(verifier: Verifier, tree: PublicTree) -> None:
    path = "batteries/primes/responses/primes-plan-1.jsonl"
    damaged = tree.with_file(path, b"")
    assert verifier.verify(damaged, [RUN]).verdict == "fail"
    assert verifier.verify(damaged, [Part("battery", "primes")]).verdict == "fail"
    assert verifier.verify(damaged, [Part("commitment", "primes")]).verdict == "ok"


def test_only_checkpoints_over_its_events_must_be_anchored(verifier: Verifier, tree: PublicTree) -> None:
    plan = Part("plan", "primes-plan")
    newest = max(int(path.split("/")[-1].split(".")[0]) for path in tree.paths() if "checkpoints/" in path)
    unstamped = tree.with_file(f"commitments/checkpoints/{newest}.json.ots", None)
    about = [one for one in verifier.verify(unstamped, [plan]).steps if one.step == 4]
    assert [one.status for one in about] == ["ok"] * len(about)
    whole = [one.status for one in verifier.verify(unstamped).steps if one.step == 4]
    assert "pending" in whole


def test_a_part_that_is_not_there(verifier: Verifier, tree: PublicTree) -> None:
    with pytest.raises(UsageError, match="no run absent") as caught:
        verifier.verify(tree, [Part("run", "absent")])
    assert "battery pairs" in caught.value.hint


def test_a_part_whose_files_are_all_gone_is_false_not_unknown(verifier: Verifier, tree: PublicTree) -> None:
    gone = tree.with_files({path: None for path in tree.paths() if path.startswith("runs/primes-plan-1/")})
    result = verifier.verify(gone, [RUN])
    assert result.verdict == "fail"
    assert {one.step for one in result.failures} >= {1, 8}
