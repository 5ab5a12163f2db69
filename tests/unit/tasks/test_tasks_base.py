"""The registry: names, closest names, plugins, source hashes, and that nothing heavy is imported."""

import hashlib
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sealbench.errors import ConfigurationError, UsageError
from sealbench.tasks import base
from sealbench.tasks.base import BUILT_IN_FAMILIES, family_names, get_family, source_sha256


@pytest.fixture(autouse=True)
def _fresh_cache():
    get_family.cache_clear()
    yield
    get_family.cache_clear()


@pytest.mark.parametrize("name", sorted(BUILT_IN_FAMILIES))
def test_built_in_families_keep_the_contract(name):
    family = get_family(name)
    assert family.name == name
    assert family.version >= 1
    assert len(family.classes) == 2
    assert family.wordings[0] == "plain"
    assert name in family_names()


def test_unknown_family_names_the_closest():
    with pytest.raises(UsageError, match="no task family 'primalty'") as caught:
        get_family("primalty")
    assert "primality" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        get_family("zzzz")
    assert "seal families" in caught.value.hint


def _provide(monkeypatch, **entries):
    points = [EntryPoint(name, value, base.ENTRY_POINT_GROUP) for name, value in entries.items()]
    monkeypatch.setattr(base.importlib.metadata, "entry_points", lambda group: points)


def test_built_ins_work_without_installed_metadata(monkeypatch):
    _provide(monkeypatch)
    assert family_names() == sorted(BUILT_IN_FAMILIES)
    assert get_family("subset_sum").name == "subset_sum"


def test_plugins_cannot_replace_built_ins(monkeypatch):
    _provide(monkeypatch, primality="json:loads")
    assert get_family("primality").summary.startswith("is this number prime")


def test_broken_plugins_are_named(monkeypatch):
    _provide(monkeypatch, gone="no_such_module_at_all:FAMILY", wrong="json:loads")
    with pytest.raises(ConfigurationError, match="'gone'"):
        get_family("gone")
    with pytest.raises(ConfigurationError, match="'wrong'"):
        get_family("wrong")


def test_source_hash_is_over_length_prefixed_file_bytes():
    family = get_family("digit_sum_parity")
    expected = hashlib.sha256()
    for module in family.sources:
        __import__(module)
        data = Path(sys.modules[module].__file__).read_bytes()
        expected.update(len(data).to_bytes(4, "big") + data)
    assert source_sha256(family) == expected.hexdigest()


def test_every_named_source_exists_and_families_differ():
    hashes = {source_sha256(get_family(name)) for name in BUILT_IN_FAMILIES}
    assert len(hashes) == len(BUILT_IN_FAMILIES)


def test_looking_at_the_registry_imports_nothing_heavy():
    code = (
        "import sys; from sealbench.tasks.base import get_family, family_names; family_names();"
        "from sealbench.tasks import answers; get_family('primality').complete({'digits': '9'});"
        "bad = {'sympy', 'numpy', 'httpx', 'pydantic'} & set(sys.modules); print(sorted(bad))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
