"""The example of docs/writing-a-family.md, taken from the page and run as a plugin would be."""

import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tasks_helpers import alterations

from sealbench.crypto.canonical import decode, encode
from sealbench.crypto.stream import Stream
from sealbench.errors import CertificateFailed, ConfigurationError, UsageError
from sealbench.tasks import base
from sealbench.tasks.base import family_names, get_family, source_sha256

GUIDE = Path(__file__).parents[3] / "docs" / "writing-a-family.md"


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    family, checks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "needle.py").write_text(family, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("needle", "needle:FAMILY", base.ENTRY_POINT_GROUP)
    every = base.importlib.metadata.entry_points

    def with_example(group):
        return [point] if group == base.ENTRY_POINT_GROUP else every(group=group)

    monkeypatch.setattr(base.importlib.metadata, "entry_points", with_example)
    get_family.cache_clear()
    yield family, checks
    sys.modules.pop("needle", None)
    get_family.cache_clear()


def test_the_example_is_a_family(blocks):
    assert len(blocks[0].splitlines()) < 80
    assert "needle" in family_names()
    family = get_family("needle")
    assert len(source_sha256(family)) == 64
    parameters = family.complete({})
    for index, slot in enumerate(family.slots(parameters, 4)):
        instance = family.generate(slot, parameters, Stream("t", index))
        assert instance == family.generate(slot, parameters, Stream("t", index))
        assert decode(encode(instance.params)) == instance.params
        family.check(instance.params, instance.class_label, instance.certificate)
        for altered in alterations(instance.certificate):
            with pytest.raises(CertificateFailed):
                family.check(instance.params, instance.class_label, altered)
        for wording in family.wordings:
            assert family.render(instance, wording, Stream("w")).answer
    with pytest.raises(ConfigurationError):
        family.complete({"length": "0"})
    with pytest.raises(UsageError):
        family.slots(parameters, 0)


def test_the_pages_own_checks_pass(blocks):
    exec(compile(blocks[1], str(GUIDE), "exec"), {})  # noqa: S102 (it is our own page)
