"""A battery's items as a harness takes them: bound to the commitment, registered when they are shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sealbench.crypto import merkle
from sealbench.errors import MissingKey, UsageError
from sealbench.formats.sealed_sample import METADATA_KEY, SealedSample, score_value
from sealbench.inspect_bridge.samples import Samples, samples_of
from sealbench.publishing.publication import read_registry
from sealbench.stages.derive import derive
from sealbench.store import Workspace
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.workshop import sealed

STORED = Path(__file__).parents[2] / "vectors" / "workspace"


def _lead_to_the_root(made: Samples) -> bool:
    commitment = made.battery.commitment
    for one in made.samples:
        opened = SealedSample.from_value(one.metadata[METADATA_KEY]).opened
        path = [bytes.fromhex(step) for step in opened.path]
        root = bytes.fromhex(commitment.root)
        merkle.verify_inclusion(opened.leaf(), opened.index, commitment.items, path, root)
        assert (one.id, one.prompt, one.answer) == (opened.item.id, opened.item.prompt, opened.item.answer)
    return True


def test_a_sealed_battery_gives_one_bound_sample_per_item(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path)
    made = samples_of(tmp_path, "primes")
    assert not made.published
    assert len(made.samples) == made.battery.commitment.items
    assert _lead_to_the_root(made)
    header = made.metadata[METADATA_KEY]
    assert header["commitment"] == made.battery.commitment.digest()
    assert (header["retired"], header["items"]) == (False, len(made.samples))
    assert {one.metadata["class_label"] for one in made.samples} == {"prime", "composite"}
    assert samples_of(workspace.root / "commitments", "primes").samples == made.samples


def test_a_retired_battery_needs_no_secret_of_this_machine(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(STORED, folder, ignore=shutil.ignore_patterns(".seal"))
    (folder / "sealbench.toml").write_text('network = "regtest"\n')
    before = (folder / "commitments/registry.jsonl").read_bytes()
    made = samples_of(folder, "mixed")
    assert made.published
    assert _lead_to_the_root(made)
    made.register_exposure("any/model")
    assert (folder / "commitments/registry.jsonl").read_bytes() == before


def test_a_derived_battery_keeps_its_parents_salts(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path, per_class=4)
    derive(workspace, ["primality"], name="part", parent="primes", per_class=2)
    made = samples_of(tmp_path, "part")
    assert 0 < len(made.samples) < len(made.battery.places) + made.battery.places[-1]
    assert _lead_to_the_root(made)


def test_what_a_model_is_shown_is_registered_and_the_workspace_still_verifies(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path)
    samples_of(tmp_path, "primes").register_exposure("mockllm/model")
    (line,) = read_registry(workspace).events("expose")
    assert (line.subject, line.detail) == ("primes", {"endpoints": ["inspect:mockllm/model"], "run": None})
    policy = Policy(network="regtest", accept_unanchored=True)
    result = Verifier(policy).verify(PublicTree.from_folder(workspace.root))
    assert result.verdict == "ok_except_time"


def test_wordings(tmp_path: Path) -> None:
    sealed(tmp_path)
    assert {one.metadata["wording"] for one in samples_of(tmp_path, "primes", "plain").samples} == {"plain"}
    with pytest.raises(UsageError, match="has no wording loud") as caught:
        samples_of(tmp_path, "primes", "loud")
    assert caught.value.hint == "-T wording=plain"


def test_somebody_elses_sealed_battery_stays_closed(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path)
    workspace.battery_key("primes").unlink()
    with pytest.raises(MissingKey, match="no such key here"):
        samples_of(tmp_path, "primes")
    with pytest.raises(UsageError, match="cannot name a battery"):
        samples_of(tmp_path, "../primes")
    with pytest.raises(UsageError, match="no workspace here"):
        samples_of(Workspace(tmp_path).root.parent, "primes")


def test_marks_of_a_grade() -> None:
    grades = ("right", "wrong", "unparseable", "empty", "unclosed_reasoning")
    assert [score_value(grade) for grade in grades] == ["C", "I", "I", "N", "N"]
    ungraded = score_value(None)
    assert ungraded != ungraded  # NaN
