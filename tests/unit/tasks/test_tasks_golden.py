"""The output of each family's version never changes: hashes of many draws, the same on every Python."""

import hashlib
import json
from pathlib import Path

import pytest
from tasks_helpers import draw

from sealbench.crypto.canonical import encode
from sealbench.crypto.stream import Stream

GOLDEN = Path(__file__).parents[2] / "data" / "tasks" / "golden.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))


def digest_of(name, version, parameters, per_class):
    """SHA-256 over the canonical bytes of all instances and their prompts in all wordings."""
    family, instances = draw(name, per_class, seed="golden", **parameters)
    assert family.version == version
    hashed = hashlib.sha256()
    for number, one in enumerate(instances):
        fields = [one.class_label, one.kind, one.stratum, one.search, one.params, one.certificate]
        hashed.update(encode(fields) + b"\n")
        for wording in family.wordings:
            rendered = family.render(one, wording, Stream("sealbench/v1/wording", number, wording))
            hashed.update(encode([rendered.prompt, rendered.answer, rendered.answer_type]) + b"\n")
    return hashed.hexdigest()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["family"] + "_" + str(case["per_class"]))
def test_same_bytes(case):
    digest = digest_of(case["family"], case["version"], case["parameters"], case["per_class"])
    assert digest == case["sha256"], "the output of a published version changed: raise its version instead"
