"""Croissant's own reader accepts a bundle's metadata, without a warning, and finds every item.

`make test-croissant` installs mlcroissant into `.venv-croissant`; `CROISSANT_PYTHON` names another
interpreter that has it. Nothing is fetched: the data set lies beside its metadata.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
CROISSANT_PYTHON = Path(os.environ.get("CROISSANT_PYTHON", ROOT / ".venv-croissant" / "bin" / "python"))
READ = """
import json, sys
import mlcroissant

data = mlcroissant.Dataset(sys.argv[1])
issues = data.metadata.issues
records = [
    {key.split("/")[-1]: value.decode() for key, value in record.items()} for record in data.records("items")
]
print(json.dumps({"errors": sorted(issues.errors), "warnings": sorted(issues.warnings), "records": records}))
"""


def test_croissants_reader_finds_every_item(demo_folder: Path, tmp_path: Path) -> None:
    if not CROISSANT_PYTHON.exists():
        pytest.skip(f"{CROISSANT_PYTHON} is not there: make test-croissant")
    for name in ("primes", "pairs"):
        folder = Path(shutil.copytree(demo_folder / "batteries" / name, tmp_path / name))
        command = [CROISSANT_PYTHON, "-c", READ, folder / "croissant.json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "WARNING" not in done.stderr
        found = json.loads(done.stdout)
        assert (found["errors"], found["warnings"]) == ([], [])
        items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
        assert [one["id"] for one in found["records"]] == [one["id"] for one in items]
        for one, item in zip(found["records"], items, strict=True):
            assert one == {key: item[key] for key in one}
            assert {"prompt", "answer", "canary"} <= one.keys()
