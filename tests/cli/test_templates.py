"""Templates from the battery to the frozen plan: what each writes is read back, and fits what was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from sealbench.errors import ConfigurationError, UsageError
from sealbench.formats.plan import read_plan
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry
from sealbench.stages.preregister import preregister
from tests.conftest import Seal
from tests.workshop import PLAN, planned, sealed


def frozen(root: Path, plan: str) -> Preregistration:
    return Preregistration.from_bytes((root / f"preregistrations/{plan}.json").read_bytes())


@pytest.fixture
def workspace(seal: Seal, tmp_path: Path) -> Path:
    assert seal("init", str(tmp_path), "--network", "regtest").code == 0
    return tmp_path


def test_paper0_from_the_battery_to_the_plan(seal: Seal, workspace: Path) -> None:
    made = seal(
        *["create", "--for", "paper0", "--name", "w", "--per-class", "7", "--no-stamp"], cwd=workspace
    )
    assert made.code == 0, made.err
    assert "42 instances, 84 items" in made.out
    assert "--template paper0" in made.err
    assert seal(*["preregister", "w", "--plan", "p", "--template", "paper0"]).code == 0
    text = (workspace / "p.toml").read_text()
    done = seal(*["preregister", "w", "--plan", "p", "--from", "p.toml", "--no-stamp"])
    assert done.code == 0, done.err
    plan = frozen(workspace, "p")
    by_measure = [(h.measure, h.cap) for h in plan.hypotheses]
    assert set(by_measure) == {("lost", 300), ("charged_tokens", 4000)}
    assert {h.where.get("wording") for h in plan.hypotheses} == {"plain", "inverted", None}
    (falsifier,) = [h for h in plan.hypotheses if h.falsifies]
    assert falsifier.where["kind"] == "semiprime"
    refuted = {h.id: h for h in plan.hypotheses if h.id in falsifier.falsifies}
    assert len(refuted) == 4
    assert {h.where["kind"] for h in refuted.values()} == {"small_factor"}
    (void,) = plan.void_conditions
    assert (void.where, void.cap) == ({"family": "subset_sum"}, 300)
    control = {h.id for h in plan.hypotheses if h.where["family"] == "subset_sum"}
    assert set(void.voids) == control
    assert plan.underpowered == ()
    assert "--supersedes w" in text


def test_own_parameters_and_wordings_are_added_to_the_templates(seal: Seal, workspace: Path) -> None:
    made = "create --for paper0 --name w --per-class 2 --no-stamp"
    more = "-p subset_sum.length=24 --wording letters"
    assert seal(*made.split(), *more.split(), cwd=workspace).code == 0
    commitment = (workspace / "commitments/w.json").read_text()
    assert '"length":[24]' in commitment
    assert '"wordings":["plain","inverted","letters"]' in commitment


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("create primality --for paper0 --name w --per-class 2", "names the families itself"),
        ("create --for nothing --name w --per-class 2", "no template nothing"),
        ("create --for import --name w --per-class 2", "--import"),
    ],
)
def test_a_template_that_makes_no_battery(seal: Seal, workspace: Path, arguments: str, told: str) -> None:
    done = seal(*arguments.split(), cwd=workspace)
    assert done.code == 2
    assert told in done.err


def test_paper0_needs_its_battery_and_reasoning_needs_pairs(seal: Seal, tmp_path: Path) -> None:
    sealed(tmp_path)
    done = seal(*["preregister", "primes", "--plan", "p", "--template", "paper0"], cwd=tmp_path)
    assert (done.code, "--for paper0" in done.err) == (2, True)
    odd = seal(
        *["preregister", "primes", "--plan", "p", "--template", "reasoning", "--endpoint", "reference/solver"]
    )
    assert (odd.code, "in pairs" in odd.err) == (2, True)
    assert not (tmp_path / "p.toml").exists()
    assert seal(*["preregister", "primes", "--plan", "p", "--template", "reasoning"]).code == 0
    draft = read_plan((tmp_path / "p.toml").read_text(), "p.toml")
    directions = {h.where["endpoint"]: h.direction for h in draft.hypotheses}
    assert directions == {"reference/reasoner": "greater", "reference/solver": "two-sided"}


def test_own_items_get_two_sided_hypotheses(seal: Seal, workspace: Path) -> None:
    rows = [
        "prompt,answer,class_label,answer_type",
        *(
            f"Question {n}?,{'yes' if n % 2 else 'no'},{'hard' if n % 2 else 'easy'},yes_no"
            for n in range(16)
        ),
    ]
    (workspace / "own.csv").write_text("\n".join(rows) + "\n")
    made = seal(*["create", "--import", "own.csv", "--name", "own", "--no-stamp"], cwd=workspace)
    assert made.code == 0, made.err
    assert "--template import" in made.err
    assert seal(*["preregister", "own", "--plan", "p", "--template", "import"]).code == 0
    draft = read_plan((workspace / "p.toml").read_text(), "p.toml")
    assert {(h.class1, h.class0, h.direction) for h in draft.hypotheses} == {("easy", "hard", "two-sided")}
    done = seal(*["preregister", "own", "--plan", "p", "--from", "p.toml", "--no-stamp"])
    assert done.code == 0, done.err


def test_a_test_that_can_never_reach_its_alpha_is_refused_unless_forced(tmp_path: Path) -> None:
    workspace, settings = sealed(tmp_path, per_class=2)
    source = tmp_path / "plan.toml"
    source.write_text(
        PLAN.format(
            endpoints='["reference/solver"]', caps=[300], repeats=1, first="reference/solver", cap=300
        )
    )
    with pytest.raises(ConfigurationError) as raised:
        preregister(workspace, "primes", plan="plan", source=source, settings=settings)
    assert "H1 on reference/solver (at best 1/6" in raised.value.message
    assert "--per-class 3 " in (raised.value.hint or "")
    assert not workspace.plan("plan").exists()
    done = preregister(workspace, "primes", plan="plan", source=source, settings=settings, force=True)
    assert done.plan.underpowered == ("H1 on reference/solver (at best 1/6 after correction, alpha 0.05)",)
    assert Preregistration.from_bytes(workspace.plan("plan").read_bytes()) == done.plan


def test_an_amendment_names_its_plan_in_file_and_registry(seal: Seal, tmp_path: Path) -> None:
    planned(tmp_path)
    changed = tmp_path / "changed.toml"
    changed.write_text((tmp_path / "plan.toml").read_text().replace("repeats = 1", "repeats = 2"))
    amend = "preregister primes --plan plan-2 --amends plan --from changed.toml --no-stamp --force"
    done = seal(*amend.split(), cwd=tmp_path)
    assert done.code == 0, done.err
    plan = frozen(tmp_path, "plan-2")
    assert plan.amends is not None
    assert plan.amends.path == "preregistrations/plan.json"
    assert plan.amends.sha256 == frozen(tmp_path, "plan").digest()
    registry = Registry.from_bytes((tmp_path / "commitments/registry.jsonl").read_bytes())
    assert registry.find("amend", "plan-2") is not None
    assert registry.find("preregister", "plan-2") is None
    checked = seal("verify", "--network", "regtest", "--offline", "--json")
    assert '"fail"' not in checked.out


def test_amending_what_is_not_frozen(tmp_path: Path) -> None:
    workspace, settings = sealed(tmp_path)
    (tmp_path / "p.toml").write_text("")
    with pytest.raises(UsageError, match="no plan of that name"):
        preregister(
            workspace,
            "primes",
            plan="p2",
            source=tmp_path / "p.toml",
            settings=settings,
            amends="absent",
        )
