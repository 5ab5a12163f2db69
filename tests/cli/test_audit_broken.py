"""`seal audit` on logs that are broken, empty or of nothing known: what is wrong, where, and what to do."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Seal

LOGS = Path(__file__).parents[1] / "data" / "logs"
EVAL = (LOGS / "SYNTHETIC_inspect_primes_cap300.eval").read_bytes()
REAL_EVAL = (LOGS / "inspect_popularity_gpt4omini.eval").read_bytes()
SAMPLES = (LOGS / "SYNTHETIC_lmeval_samples_primes40.jsonl").read_bytes()
BATCH = (LOGS / "SYNTHETIC_openai_batch_output.jsonl").read_bytes()
GYM = (LOGS / "rg_o3mini_easy_game_of_life_halting.json").read_bytes()
INSPECT = (LOGS / "SYNTHETIC_inspect_primes_cap300.json").read_bytes()


def _zip(**members: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(name.replace("__", "/").replace("_json", ".json"), text)

    return write


def _bytes(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("name", "write", "told"),
    [
        ("half.eval", _bytes(EVAL[: len(EVAL) // 2]), "half.eval: not a whole zip file"),
        ("zstd.eval", _bytes(_flipped(EVAL, len(EVAL) // 3)), "zstd.eval: not a whole zip file"),
        ("deflate.eval", _bytes(_flipped(REAL_EVAL, 2000)), "deflate.eval: not a whole zip file"),
        ("words.eval", _bytes(b"not a zip file at all"), "words.eval: not a whole zip file"),
        ("empty.eval", _bytes(b""), "empty.eval: not a whole zip file"),
        ("other.eval", _zip(data="x"), "a zip file without header.json"),
        ("header.eval", _zip(header_json="{"), "header.json is not valid JSON"),
        ("list.eval", _zip(header_json="[]"), "header.json is not a JSON object"),
        ("sample.eval", _zip(header_json="{}", samples__1_json="{"), "samples/1.json is not valid JSON"),
        ("none.eval", _zip(header_json="{}"), "holds no responses"),
        ("line.jsonl", _bytes(SAMPLES[:-100]), "line.jsonl line 40: the file ends in the middle of a line"),
        ("batch.jsonl", _bytes(BATCH.replace(b'"custom_id"', b'"custom_id', 3)[:3000]), "batch.jsonl line 1"),
        ("list.jsonl", _bytes(SAMPLES + b"[1]\n"), "list.jsonl line 41: not a JSON object"),
        ("gym.json", _bytes(GYM[:-200]), "gym.json: not valid JSON"),
        ("inspect.json", _bytes(INSPECT[: len(INSPECT) // 2]), "the file ends in the middle of a value"),
        ("twice.json", _bytes(INSPECT + b"{}"), "something follows the end of the value"),
        ("latin.csv", _bytes("id,target\n1,é\n".encode("latin-1")), "not a CSV file in UTF-8"),
        ("short.csv", _bytes(b"id,target\n1,a\n2"), "short.csv line 3: not as many fields as the header has"),
        ("long.csv", _bytes(b"id,target\n1,a,b\n"), "long.csv line 2: not as many fields as the header has"),
        ("quote.csv", _bytes(b'id,target\n1,"a\n'), "not a CSV file in UTF-8"),
        ("head.csv", _bytes(b"id,target\n"), "holds no responses"),
        ("notes.txt", _bytes(b"nothing of the kind\n"), "of no known format"),
        ("latin.jsonl", _bytes('{"id": "é"}\n'.encode("latin-1")), "not UTF-8 text"),
        ("deep.jsonl", _bytes(b'{"id": ' + b"[" * 100_000 + b"\n"), "not valid JSON"),
    ],
)
def test_broken_logs(seal: Seal, tmp_path: Path, name: str, write: Callable[[Path], None], told: str) -> None:
    write(tmp_path / name)
    result = seal("audit", name, cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("seal: error: ")
    assert told in result.err
    assert result.err.split("seal: hint: ")[1].strip()
    assert "Traceback" not in result.err


def test_a_zip_by_a_method_that_nothing_here_knows_could_not_be_checked(seal: Seal, tmp_path: Path) -> None:
    log = tmp_path / "odd.eval"
    _zip(header_json="{}")(log)
    data = log.read_bytes()
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    changed = bytearray(data)
    changed[local + 8 : local + 10] = changed[central + 10 : central + 12] = (97).to_bytes(2, "little")
    log.write_bytes(changed)
    result = seal("audit", "odd.eval", cwd=tmp_path)
    assert result.code == 4
    assert "header.json is compressed by method 97" in result.err
    assert "inspect log dump" in result.err


def test_the_hint_for_half_a_line_gives_a_log_that_reads(seal: Seal, tmp_path: Path) -> None:
    (tmp_path / "samples_half.jsonl").write_bytes(SAMPLES[:-100])
    result = seal("audit", "samples_half.jsonl", cwd=tmp_path)
    assert "head -n 39 samples_half.jsonl > whole.jsonl" in result.err
    whole = b"".join((tmp_path / "samples_half.jsonl").read_bytes().splitlines(keepends=True)[:39])
    (tmp_path / "whole.jsonl").write_bytes(whole)
    assert seal("audit", "whole.jsonl", cwd=tmp_path).code == 0


def test_folders(seal: Seal, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = seal("audit", "empty", cwd=tmp_path)
    assert (result.code, "empty: holds no log" in result.err) == (1, True)
    (tmp_path / "mixed" / "deep").mkdir(parents=True)
    (tmp_path / "mixed" / "deep" / "log.json").write_bytes(INSPECT)
    (tmp_path / "mixed" / "readme.md").write_text("no log\n")
    (tmp_path / "mixed" / ".hidden.csv").write_text("id\n1\n")
    view = json.loads(seal("audit", "mixed", "--json", cwd=tmp_path).out)
    assert [one["format"] for one in view["files"]] == ["inspect-json"]
    assert view["notes"] == ["mixed: not read, being no logs or only parts of one: 1 of its files"]
    result = seal("audit", "mixed", "--format", "helm", cwd=tmp_path)
    assert (result.code, "holds no log of format helm" in result.err) == (1, True)


def test_models_mixed_in_one_file_are_groups_of_their_own(seal: Seal, tmp_path: Path) -> None:
    lines = ["id,model,target,finish_reason"]
    for model, cut in (("a", True), ("b", False)):
        for n in range(20):
            end = "length" if cut and n % 2 else "stop"
            lines.append(f"{n},{model},{'yes' if n % 2 else 'no'},{end}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    view = json.loads(seal("audit", "log.csv", "--json", cwd=tmp_path).out)
    found = [(group["model"], group["finding"]) for group in view["groups"]]
    assert found == [("a", "asymmetric"), ("b", "nothing cut")]


def test_every_call_failed(seal: Seal, tmp_path: Path) -> None:
    lines = "".join(f"{n},{n % 2},time-out\n" for n in range(8))
    (tmp_path / "log.csv").write_text("id,target,error\n" + lines)
    result = seal("audit", "log.csv", cwd=tmp_path)
    assert result.code == 0
    assert "all 8 calls failed, so there is no response to look at" in " ".join(result.out.split())
