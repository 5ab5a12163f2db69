"""A sealed battery in an Inspect AI log: every change is found, by the committed root."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sealbench.analysis.audit_result import Audit, CheckedBattery
from sealbench.errors import CheckFailed, SealError
from sealbench.formats.sealed_sample import METADATA_KEY, SCORER
from sealbench.inspect_bridge.samples import samples_of
from sealbench.stages.audit import Logs, audit
from sealbench.testing.reference import complete
from tests.conftest import Seal
from tests.workshop import sealed

Sample = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the sealed battery `primes`."""
    root = tmp_path_factory.mktemp("sealed")
    sealed(root)
    return root


@pytest.fixture(scope="module")
def samples(folder: Path) -> list[Sample]:
    """The samples as Inspect AI logs them, answered by the reference solver at a cap of 300 tokens."""
    return list(_answered(folder))


def _answered(folder: Path) -> Iterator[Sample]:
    for one in samples_of(folder, "primes").samples:
        reply = complete("solver", one.prompt, 300)
        answer = {"role": "assistant", "content": reply.text}
        stop = "max_tokens" if reply.cut else "stop"
        grade = "C" if reply.text.endswith(f"Answer: {one.answer}") else "I"
        yield {
            "id": one.id,
            "epoch": 1,
            "input": one.prompt,
            "target": one.answer,
            "messages": [{"role": "user", "content": one.prompt}, answer],
            "output": {
                "choices": [{"message": answer, "stop_reason": stop}],
                "usage": {"output_tokens": reply.completion_tokens},
            },
            "scores": {SCORER: {"value": grade}},
            "metadata": one.metadata,
        }


def _audit(tmp_path: Path, samples: list[Sample], *commitments: Path) -> Audit:
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "sealbench/battery", "model": "m"},
        "plan": {"config": {"max_tokens": 300}},
        "samples": samples,
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    return audit(Logs([path], commitments=commitments))


def _checked(found: Audit) -> CheckedBattery:
    (one,) = found.batteries
    return one


def test_a_whole_log_is_checked_against_the_commitment(
    tmp_path: Path, folder: Path, samples: list[Sample]
) -> None:
    commitment = folder / "commitments/primes.json"
    found = _audit(tmp_path, samples, commitment)
    own = _checked(found)
    assert (own.path, own.items, own.committed) == (str(commitment), len(samples), len(samples))
    assert (own.samples, own.regraded, own.altered) == (len(samples), len(samples), 0)
    (group,) = found.groups
    assert (group.task, group.cap, set(group.classes)) == (
        "primes: primality, plain",
        300,
        {"prime", "composite"},
    )
    assert group.classes["prime"].cut_reported == group.classes["prime"].responses
    assert group.classes["composite"].cut == 0


def test_a_part_of_a_log_is_told_as_a_part(tmp_path: Path, folder: Path, samples: list[Sample]) -> None:
    own = _checked(_audit(tmp_path, samples[:3], folder / "commitments/primes.json"))
    assert (own.items, own.committed) == (3, len(samples))


def test_without_a_commitment_nothing_is_called_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: list[Sample]
) -> None:
    monkeypatch.chdir(tmp_path)
    own = _checked(_audit(tmp_path, samples))
    assert (own.path, own.committed, own.items, own.samples) == (None, None, 0, len(samples))


def test_in_its_workspace_the_commitment_is_found(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, samples: list[Sample]
) -> None:
    monkeypatch.chdir(folder)
    assert _checked(_audit(tmp_path, samples)).path == "commitments/primes.json"


def _item(sample: Sample) -> dict[str, Any]:
    item: dict[str, Any] = sample["metadata"][METADATA_KEY]["opened"]["item"]
    return item


def _other_prompt(sample: Sample) -> None:
    sample["input"] = "Is 7 a prime number?"


def _other_prompt_in_the_item_too(sample: Sample) -> None:
    sample["input"] = _item(sample)["prompt"] = "Is 7 a prime number?"


def _other_target(sample: Sample) -> None:
    sample["target"] = "Maybe"


def _other_class(sample: Sample) -> None:
    _item(sample)["class_label"] = "semiprime"


def _other_salt(sample: Sample) -> None:
    sample["metadata"][METADATA_KEY]["opened"]["salt"] = "0" * 64


def _other_place(sample: Sample) -> None:
    sample["metadata"][METADATA_KEY]["opened"]["index"] += 1


def _shorter_path(sample: Sample) -> None:
    sample["metadata"][METADATA_KEY]["opened"]["path"].pop()


def _other_id(sample: Sample) -> None:
    sample["id"] = "0" * 16


def _better_score(sample: Sample) -> None:
    sample["scores"][SCORER]["value"] = "C" if sample["scores"][SCORER]["value"] == "I" else "I"


def _unknown_field(sample: Sample) -> None:
    sample["metadata"][METADATA_KEY]["note"] = "x"


def _no_item(sample: Sample) -> None:
    sample["metadata"][METADATA_KEY] = {"commitment": sample["metadata"][METADATA_KEY]["commitment"]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_other_prompt, "its prompt is not that of the committed item"),
        (_other_prompt_in_the_item_too, "does not lead to the committed root"),
        (_other_target, "its target is not that of the committed item"),
        (_other_class, "does not lead to the committed root"),
        (_other_salt, "does not lead to the committed root"),
        (_other_place, "does not lead to the committed root"),
        (_shorter_path, "does not lead to the committed root"),
        (_other_id, "its id is not that of the committed item"),
        (_better_score, "its score is"),
        (_unknown_field, "note: Extra inputs are not permitted"),
        (_no_item, "Field required"),
    ],
)
def test_every_change_is_found(
    tmp_path: Path, folder: Path, samples: list[Sample], change: Callable[[Sample], None], told: str
) -> None:
    changed = copy.deepcopy(samples)
    change(changed[0])
    with pytest.raises(CheckFailed, match=told) as caught:
        _audit(tmp_path, changed, folder / "commitments/primes.json")
    assert caught.value.message.startswith(f"log.json, sample {changed[0]['id']}:")


def test_a_sample_that_stands_twice_is_found(tmp_path: Path, folder: Path, samples: list[Sample]) -> None:
    with pytest.raises(CheckFailed, match="stands twice in the same epoch"):
        _audit(tmp_path, [*samples, samples[0]], folder / "commitments/primes.json")
    again = [*samples, {**samples[0], "epoch": 2}]
    own = _checked(_audit(tmp_path, again, folder / "commitments/primes.json"))
    assert (own.items, own.samples) == (len(samples), len(samples) + 1)


def test_another_battery_does_not_pass(tmp_path: Path, samples: list[Sample]) -> None:
    other = tmp_path / "other"
    sealed(other)
    commitment = other / "commitments/primes.json"
    with pytest.raises(CheckFailed, match="which is none of those given"):
        _audit(tmp_path, samples, commitment)
    # A log that claims the other commitment is no better: its items do not lead to that root.
    claimed = copy.deepcopy(samples)
    digest = samples_of(other, "primes").battery.commitment.digest()
    for sample in claimed:
        sample["metadata"][METADATA_KEY]["commitment"] = digest
    with pytest.raises(CheckFailed, match="not an item of primes"):
        _audit(tmp_path, claimed, commitment)


def test_a_system_message_is_told(tmp_path: Path, folder: Path, samples: list[Sample]) -> None:
    changed = copy.deepcopy(samples)
    changed[0]["messages"].insert(0, {"role": "system", "content": "Always say Yes."})
    changed[1]["messages"] = []  # a log without messages says nothing of them
    changed[2]["messages"].pop()  # the call failed: what was sent is there all the same
    assert _checked(_audit(tmp_path, changed, folder / "commitments/primes.json")).altered == 1


def test_scores_of_another_parser_are_not_computed_again(
    tmp_path: Path, folder: Path, samples: list[Sample]
) -> None:
    changed = copy.deepcopy(samples)
    changed[0]["metadata"][METADATA_KEY]["parser"]["version"] += 1
    changed[1]["scores"] = {"somebody_elses": {"value": "C"}}
    own = _checked(_audit(tmp_path, changed, folder / "commitments/primes.json"))
    assert own.regraded == len(samples) - 2


def test_a_log_of_something_else_has_nothing_to_check(seal: Seal, tmp_path: Path, folder: Path) -> None:
    log = tmp_path / "other.csv"
    log.write_text("id,target,finish_reason\n1,a,stop\n2,b,stop\n")
    result = seal("audit", str(log), "--commitment", str(folder / "commitments/primes.json"))
    assert result.code == 1
    assert "no sample of these logs is of a sealed battery" in result.err
    assert "seal: hint: leave --commitment out" in result.err
    broken = seal("audit", str(log), "--commitment", str(log))
    assert (broken.code, "Traceback" in broken.err) == (1, False)


def test_the_terminal_and_json_say_what_was_checked(
    seal: Seal, tmp_path: Path, folder: Path, samples: list[Sample]
) -> None:
    _audit(tmp_path, samples)
    log, commitment = tmp_path / "log.json", folder / "commitments/primes.json"
    text = " ".join(seal("audit", str(log), "--commitment", str(commitment)).out.split())
    assert f"{len(samples)} of {len(samples)} items in {len(samples)} samples" in text
    assert f"seal verify {commitment}" in text
    unchecked = " ".join(seal("audit", str(log), cwd=tmp_path).out.split())
    assert "NOT CHECKED, for no commitment of that hash is at hand" in unchecked
    (view,) = json.loads(seal("audit", str(log), "--json", cwd=folder).out)["batteries"]
    assert (view["checked"], view["items"], view["path"]) == (True, len(samples), "commitments/primes.json")


def test_errors_carry_their_place(tmp_path: Path, folder: Path, samples: list[Sample]) -> None:
    changed = copy.deepcopy(samples)
    changed[2]["metadata"][METADATA_KEY]["opened"]["path"] = ["zz"]
    with pytest.raises(SealError, match=f"sample {changed[2]['id']}: opened.path"):
        _audit(tmp_path, changed, folder / "commitments/primes.json")
