"""Derived batteries and opened items on the command line, from making to verifying."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sealbench.formats.base import FileHash
from sealbench.formats.battery import Battery, Commitment
from sealbench.formats.registry import PublicFiles
from sealbench.formats.reveal import Reveal, Subset
from sealbench.publishing.sealing import open_battery
from sealbench.store import FILES, Workspace
from sealbench.verification.bundle import read_bundle
from sealbench.verification.policy import Policy
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Result, Seal


@pytest.fixture
def workspace(seal: Seal, tmp_path: Path) -> Workspace:
    """A regtest workspace with `whole`: two families, two wordings, nothing stamped."""
    assert seal("init", str(tmp_path), "--network", "regtest").code == 0
    made = seal(
        *("create", "primality", "digit_sum_parity", "--name", "whole", "--per-class", "4", "--no-stamp"),
        *("--wording", "plain", "--wording", "letters"),
        cwd=tmp_path,
    )
    assert made.code == 0, made.err
    return Workspace(tmp_path)


def verified(workspace: Workspace) -> Verification:
    policy = Policy(network="regtest", accept_unanchored=True)
    return Verifier(policy).verify(PublicTree.from_folder(workspace.root))


def verified_with(workspace: Workspace, path: str, data: bytes) -> Verification:
    """The same after one file was exchanged and `files.json` repaired; its signature is not."""
    tree = PublicTree.from_folder(workspace.root).with_file(path, data)
    from sealbench.crypto.digest import sha256_hex

    listed = PublicFiles.from_bytes(tree.get(FILES) or b"")
    files = tuple(
        FileHash(path=one.path, sha256=sha256_hex(data)) if one.path == path else one for one in listed.files
    )
    policy = Policy(network="regtest", accept_unanchored=True)
    return Verifier(policy).verify(tree.with_file(FILES, PublicFiles(files=files).to_bytes()))


def derive(seal: Seal, *more: str, per_class: int = 2) -> Result:
    return seal(
        *("create", *more, "--derived-from", "whole", "--name", "part"),
        *("--per-class", str(per_class), "--no-stamp"),
    )


def test_a_derived_battery_is_the_first_of_each_class_and_kind(seal: Seal, workspace: Workspace) -> None:
    assert derive(seal, "primality").code == 0
    whole, part = open_battery(workspace, "whole"), open_battery(workspace, "part")
    assert part.commitment.secret_commitment == whole.commitment.secret_commitment
    assert not workspace.battery_key("part").exists()
    expected = []
    seen: dict[tuple[str, str], list[str]] = {}
    for item in whole.items:
        if item.family == "primality":
            group = seen.setdefault((item.class_label, item.kind), [])
            if item.instance not in group:
                group.append(item.instance)
            if item.instance in group[:2]:
                expected.append(item)
    # An instance's second wording may come before another's first: order is the parent's.
    assert list(part.items) == [item for item in whole.items if item in expected]
    assert set(part.tree.leaves) < set(whole.tree.leaves)
    assert Counter(item.wording for item in part.items) == {"plain": 4, "letters": 4}
    result = verified(workspace)
    assert result.verdict == "ok_except_time", result.failures
    assert "derived: part from whole" in result.step(8)[0].detail


def test_a_subset_is_proved_before_anything_is_revealed(seal: Seal, workspace: Workspace) -> None:
    derive(seal)
    shown = seal("reveal", "part", "--subset-of", "whole", "--no-stamp", "--json")
    assert shown.code == 0, shown.err
    path = workspace.reveals / "part-subset.json"
    assert json.loads(shown.out)["leaves"] == len(Subset.from_bytes(path.read_bytes()).leaves) == 16
    text = path.read_text()
    for item in open_battery(workspace, "whole").items:
        assert item.id not in text
        assert item.prompt not in text
    told = [one for one in verified(workspace).step(6) if one.subject.endswith("part-subset.json")]
    assert [one.status for one in told] == ["ok"]
    assert seal("reveal", "part", "--subset-of", "whole", "--no-stamp").code == 2
    wrong = seal("reveal", "whole", "--subset-of", "part", "--no-stamp")
    assert (wrong.code, "not derived from any" in wrong.err) == (2, True)


def test_a_forged_subset_is_caught(seal: Seal, workspace: Workspace) -> None:
    derive(seal)
    seal("reveal", "part", "--subset-of", "whole", "--no-stamp")
    path = workspace.reveals / "part-subset.json"
    subset = Subset.from_bytes(path.read_bytes())
    first, second, *rest = subset.leaves
    for leaves in (
        (first.model_copy(update={"leaf": "00" * 32}), second, *rest),
        (first.model_copy(update={"index": first.index + 1}), second, *rest),
        (first, second.model_copy(update={"path": first.path}), *rest),
        (second, first, *rest),
        (first, *rest),
    ):
        data = subset.model_copy(update={"leaves": leaves}).to_bytes()
        result = verified_with(workspace, workspace.relative(path), data)
        assert any(one.subject.endswith("part-subset.json") for one in result.step(6) if one.status == "fail")


def test_it_is_planned_run_reported_and_retires_with_its_parent(seal: Seal, workspace: Workspace) -> None:
    derive(seal)
    plan = ("preregister", "part", "--plan", "p", "--no-stamp", "--force")
    written = seal(*plan, "--template", "two-class", "--endpoint", "reference/solver", "--cap", "300")
    assert written.code == 0, written.err
    frozen = seal(*plan, "--from", "p.toml")
    assert frozen.code == 0, frozen.err
    pilot = ("--exploratory", "--cap", "300", "--endpoint", "reference/solver", "--no-stamp")
    ran = seal("run", "part", *pilot)
    assert ran.code == 0, ran.err
    assert seal("report", "part-exploratory-1").code == 0
    refused = seal("retire", "part", "--confirm", "part", "--no-stamp")
    assert (refused.code, "seal retire whole" in refused.err) == (2, True)
    done = seal("retire", "whole", "--confirm", "whole", "--no-stamp")
    assert done.code == 0, done.err
    assert "because they share its items: part" in done.err
    assert (workspace.retired("part") / "responses" / "part-exploratory-1.jsonl").exists()
    result = verified(workspace)
    assert result.verdict == "ok_except_time", result.failures
    steps = {one.subject: one for one in result.step(6)}
    assert (
        "the first instances of each class and kind of whole" in steps["batteries/part/battery.json"].detail
    )
    again = seal("run", "part", *pilot)
    assert (again.code, "retired" in again.err) == (2, True)
    for name in ("whole", "part"):  # each by itself; the part finds its parent's items in the envelope
        alone = Verifier(Policy(network="regtest", accept_unanchored=True)).verify(
            read_bundle(workspace.retired(name))
        )
        assert alone.verdict == "ok_except_time", alone.failures
        assert {one.subject: one.status for one in alone.step(6)}[f"batteries/{name}/battery.json"] == "ok"


def test_a_derived_bundle_is_checked_against_its_parents_envelope(seal: Seal, workspace: Workspace) -> None:
    derive(seal)
    assert seal("retire", "whole", "--confirm", "whole", "--no-stamp").code == 0
    bundle = read_bundle(workspace.retired("part"))
    verifier = Verifier(Policy(network="regtest", accept_unanchored=True))
    assert verifier.verify(bundle).verdict == "ok_except_time"
    missing = verifier.verify(bundle.with_file("batteries/whole.sealed.json", None))
    assert any(one.subject == "batteries/whole.sealed.json" for one in missing.failures)
    assert {one.status for one in missing.step(6) if "part" in one.subject} == {"not_checked"}
    own = Battery.from_bytes(bundle.get("batteries/part/battery.json") or b"")
    fewer = own.model_copy(update={"items": own.items[1:]}).to_bytes()
    changed = verifier.verify(bundle.with_file("batteries/part/battery.json", fewer))
    assert [one.status for one in changed.step(6) if "part" in one.subject] == ["fail"]


def test_what_cannot_be_derived(seal: Seal, workspace: Workspace) -> None:
    for result, words in (
        (derive(seal, per_class=5), "holds 4 instances"),
        (derive(seal, "subset_sum"), "whole holds no subset_sum"),
        (derive(seal, per_class=0), "at least 1 instance"),
        (derive(seal, "-p", "primality.digits=5"), "parent's parameters"),
        (derive(seal, "--beacon", "+20"), "do not go together"),
    ):
        assert (result.code, words in result.err) == (2, True), result.err
    assert derive(seal).code == 0
    deeper = seal("create", "--derived-from", "part", "--name", "less", "--per-class", "1", "--no-stamp")
    assert (deeper.code, "--derived-from whole" in deeper.err) == (2, True)


def test_items_hand_picked_out_of_the_parent(seal: Seal, workspace: Workspace) -> None:
    """A derived commitment over other leaves than its parameters choose does not even open."""
    from sealbench.errors import CheckFailed

    derive(seal)
    path = workspace.commitment("part")
    commitment = Commitment.from_bytes(path.read_bytes())
    path.write_bytes(commitment.model_copy(update={"root": "ab" * 32}).to_bytes())
    with pytest.raises(CheckFailed, match="do not have the committed root"):
        open_battery(workspace, "part")


def test_reveal_opens_all_wordings_and_nothing_else(seal: Seal, workspace: Workspace) -> None:
    battery = open_battery(workspace, "whole")
    item = battery.items[3]
    done = seal("reveal", "whole", "--item", item.id, "--yes", "--no-stamp", "--json")
    assert done.code == 0, done.err
    assert "each in all its wordings (letters, plain)" in done.err
    document = Reveal.from_bytes((workspace.reveals / "whole-1.json").read_bytes())
    opened = [entry.item for entry in document.entries]
    assert opened == [one for one in battery.items if one.instance == item.instance]
    result = verified(workspace)
    assert result.verdict == "ok_except_time", result.failures
    told = {one.step: one.detail for one in result.steps if one.subject == "commitments/reveals/whole-1.json"}
    assert "2 of 32 items opened" in told[6]
    assert "certificates of 1 instances hold" in told[7]
    assert "signed by" in told[2]
    repeated = seal("reveal", "whole", "--item", opened[-1].id, "--yes", "--no-stamp")
    assert (repeated.code, "revealed already" in repeated.err) == (2, True)
    other = next(one for one in battery.items if one.instance != item.instance)
    assert seal("reveal", "whole", "--item", other.id, "--yes", "--no-stamp").code == 0
    assert (workspace.reveals / "whole-2.json").exists()


def test_a_forged_reveal_is_caught(seal: Seal, workspace: Workspace) -> None:
    item = open_battery(workspace, "whole").items[0]
    seal("reveal", "whole", "--item", item.id, "--yes", "--no-stamp")
    path = workspace.reveals / "whole-1.json"
    document = Reveal.from_bytes(path.read_bytes())
    first, second = document.entries
    false = first.item.model_copy(update={"answer": "Perhaps"})
    for entries in (
        (first.model_copy(update={"item": false}), second),
        (first.model_copy(update={"salt": "00" * 32}), second),
        (first.model_copy(update={"index": first.index + 1}), second),
        (first.model_copy(update={"path": first.path[:-1]}), second),
        (second, first),
        (first, first),
        (first,),
    ):
        data = document.model_copy(update={"entries": entries}).to_bytes()
        result = verified_with(workspace, workspace.relative(path), data)
        assert any(one.subject.endswith("whole-1.json") for one in result.step(6) if one.status == "fail")
    # A root of its own does not help: the expected one comes from the commitment.
    data = document.model_copy(update={"root": "ab" * 32}).to_bytes()
    result = verified_with(workspace, workspace.relative(path), data)
    assert any("another root" in one.detail for one in result.step(8) if one.status == "fail")


def test_what_cannot_be_revealed(seal: Seal, workspace: Workspace) -> None:
    battery = open_battery(workspace, "whole")
    derive(seal)
    part = open_battery(workspace, "part")
    shared = part.items[0]
    free = next(item for item in battery.items if item.instance not in {one.instance for one in part.items})
    options = ("--yes", "--no-stamp")
    for result, words in (
        (seal("reveal", "whole", "--item", "0" * 16, *options), "holds no item"),
        (seal("reveal", "whole", *options), "either --item"),
        (seal("reveal", "part", "--item", shared.id, *options), "items of whole, which is sealed"),
        (seal("reveal", "whole", "--item", shared.id, *options), "also an item of part, which is sealed"),
    ):
        assert (result.code, words in result.err) == (2, True), result.err
    assert not workspace.reveals.exists()
    assert seal("reveal", "whole", "--item", free.id, *options).code == 0
    assert seal("retire", "whole", "--confirm", "whole", "--no-stamp").code == 0
    late = seal("reveal", "whole", "--item", shared.id, *options)
    assert (late.code, "all of it is public" in late.err) == (2, True)


def test_a_log_must_agree_with_a_revealed_item(seal: Seal, workspace: Workspace) -> None:
    pilot = ("--exploratory", "--cap", "300", "--endpoint", "reference/solver", "--no-stamp")
    assert seal("run", "whole", *pilot).code == 0
    item = open_battery(workspace, "whole").items[0]
    assert seal("reveal", "whole", "--item", item.id, "--yes", "--no-stamp").code == 0
    told = verified(workspace).step(10)[0]
    assert (told.status, "2 lines agree with revealed items" in told.detail) == ("ok", True), told


def test_supersede_and_derive_are_shown(seal: Seal, workspace: Workspace) -> None:
    derive(seal)
    made = seal(
        *("create", "primality", "--name", "better", "--per-class", "2"),
        *("--supersedes", "whole", "--no-stamp"),
    )
    assert made.code == 0, made.err
    notes = json.loads(seal("status", "--json").out)["notes"]
    assert "part: 16 items derived from whole; retires with it" in notes
    assert "whole: superseded by better" in notes
    assert "superseded: whole by better" in verified(workspace).step(8)[0].detail
