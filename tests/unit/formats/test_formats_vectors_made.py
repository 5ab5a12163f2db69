"""The stored vectors are what `tests/vectors/make.py` makes, byte for byte."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"


def _maker() -> ModuleType:
    sys.path.insert(0, str(VECTORS))
    try:
        spec = importlib.util.spec_from_file_location("make_vectors", VECTORS / "make.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(VECTORS))
    return module


def _tree(root: Path, folders: set[str]) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.is_file()
    }


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")
def test_making_them_again_gives_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = _maker()
    monkeypatch.setattr(make, "HERE", tmp_path)
    make.main()
    folders = {path.name for path in tmp_path.iterdir()}
    assert len(folders) == 10
    assert _tree(tmp_path, folders) == _tree(VECTORS, folders)
