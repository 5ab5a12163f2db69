"""The command: an interpreter without the package, its exit codes, its options, and hostile folders."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from sealbench.cli.root import seal
from sealbench.standalone import verify
from sealbench.store import REGISTRY

SOURCE = Path(verify.__file__)


def interpreters() -> list[str]:
    """This interpreter, and each other supported one that the path leads to."""
    found = [shutil.which(f"python3.{minor}") for minor in range(9, 14) if minor != sys.version_info.minor]
    works = [
        one for one in found if one and subprocess.run([one, "-c", ""], capture_output=True).returncode == 0
    ]
    return [sys.executable, *works]


def command(folder: Path, *options: str, python: str = sys.executable, **environment: str) -> tuple[int, str]:
    """Exit code and output of verify.py in an interpreter that sees neither the package nor site-packages."""
    done = subprocess.run(
        [python, "-I", "-S", str(SOURCE), str(folder), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )
    assert "Traceback" not in done.stderr + done.stdout
    return done.returncode, done.stdout + done.stderr


def statuses(output: str) -> set[tuple[int, str]]:
    return {(one["step"], one["status"]) for one in json.loads(output)["steps"]}


@pytest.fixture
def copy(complete: Path, tmp_path: Path) -> Path:
    """A bundle to damage."""
    return Path(shutil.copytree(complete / "batteries" / "primes", tmp_path / "primes"))


@pytest.fixture
def open_copy(complete: Path, tmp_path: Path) -> Path:
    """A workspace to damage."""
    return Path(
        shutil.copytree(
            complete, tmp_path / "open", ignore=lambda folder, names: {one for one in names if one[0] == "."}
        )
    )


def sums_again(bundle: Path) -> None:
    """SHA256SUMS as anyone can make it."""
    files = sorted(one for one in bundle.rglob("*") if one.is_file() and one.name != "SHA256SUMS")
    names = sorted(one.relative_to(bundle).as_posix() for one in files)
    rows = [f"{hashlib.sha256((bundle / one).read_bytes()).hexdigest()}  {one}\n" for one in names]
    (bundle / "SHA256SUMS").write_text("".join(rows), encoding="utf-8")


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).name)
@pytest.mark.parametrize("which", [".", "batteries/primes"])
def test_it_runs_alone_and_in_seconds(complete: Path, python: str, which: str) -> None:
    begun = time.monotonic()
    code, output = command(complete / which, "--network", "regtest", python=python)
    assert code == 0, output
    assert time.monotonic() - begun < 10
    assert "verdict: ok (regtest: proves nothing about time); self-declared key SHA256:" in output
    assert [int(line[:2]) for line in output.splitlines() if line[:2].strip().isdigit()][-1] == 12


def test_it_is_one_file_that_can_be_read_whole() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 900
    assert [line[5:7].strip() for line in text.splitlines() if line.startswith("# == ")] == [
        f"{number}." if number < 10 else str(number) for number in range(1, 11)
    ]


def test_its_checkpoints_are_those_of_the_package() -> None:
    stored = Path(verify.__file__).parents[1] / "timestamps" / "checkpoints_mainnet.bin"
    packed = [previous + target.to_bytes(4, "big") for previous, target in verify.mainnet_checkpoints()]
    assert stored.read_bytes()[12:] == b"".join(packed)


def test_json_has_the_fields_of_seal_verify(complete: Path) -> None:
    code, output = command(complete, "--network", "regtest", "--json")
    shown = CliRunner().invoke(seal, ["verify", str(complete), "--network", "regtest", "--json"])
    own, package = json.loads(output), json.loads(shown.output)
    assert code == shown.exit_code == own["exit_code"] == 0
    assert list(own) == list(package)
    assert list(own["steps"][0]) == list(package["steps"][0])
    same = ("schema", "verdict", "network", "exit_code", "self_declared_key")
    assert [own[one] for one in same] == [package[one] for one in same]
    assert {one["name"] for one in own["steps"]} == {one["name"] for one in package["steps"]}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "the following arguments are required: folder"),
        (["nowhere"], "neither a retired battery's folder nor a workspace"),
        ([".", "--network", "testnet"], "invalid choice"),
        ([".", "--allowed-signers", "nowhere.pub"], "nowhere.pub"),
        ([".", "--since", "nowhere.json"], "nowhere.json"),
    ],
)
def test_usage_errors_exit_2(tmp_path: Path, options: list[str], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SOURCE), *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_regtest_workspace_is_not_anchored_on_mainnet(complete: Path) -> None:
    code, output = command(complete, "--json")
    assert code == 3
    assert (4, "pending") in statuses(output)
    code, output = command(complete, "--json", "--accept-unanchored")
    assert code == 0
    assert json.loads(output)["verdict"] == "ok_except_time"


def test_without_ssh_keygen_no_signature_is_checked(complete: Path) -> None:
    code, output = command(complete, "--network", "regtest", "--json", PATH="")
    assert code == 4
    assert {status for step, status in statuses(output) if step == 2} == {"not_checked"}


def test_a_key_that_the_reader_trusts_must_be_the_author_s(complete: Path, tmp_path: Path) -> None:
    signers = complete / "commitments" / "allowed_signers"
    code, output = command(complete, "--network", "regtest", "--allowed-signers", str(signers))
    assert code == 0
    assert "a key you trust" in output
    assert "self-declared" not in output
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True)
    code, output = command(
        complete, "--network", "regtest", "--allowed-signers", str(tmp_path / "other.pub"), "--json"
    )
    assert code == 1
    assert (2, "fail") in statuses(output)


def test_a_checkpoint_that_the_reader_kept(complete: Path, copy: Path, tmp_path: Path) -> None:
    sizes = sorted(int(one.stem) for one in (complete / "commitments" / "checkpoints").glob("*.json"))
    newest = complete / "commitments" / "checkpoints" / f"{sizes[-1]}.json"
    assert command(complete, "--network", "regtest", "--since", str(newest))[0] == 0
    code, output = command(copy, "--network", "regtest", "--since", str(newest))
    assert (code, "ends before your checkpoint" in output) == (4, True)
    other = tmp_path / "other.json"
    value = json.loads(newest.read_bytes())
    other.write_bytes(verify.canonical({**value, "head": "0" * 64}))
    code, output = command(complete, "--network", "regtest", "--json", "--since", str(other))
    assert code == 1
    assert (8, "fail") in statuses(output)


def test_a_copy_of_it_in_the_bundle_is_compared_and_not_run(copy: Path) -> None:
    assert (copy / "verify.py").read_bytes() == SOURCE.read_bytes()
    (copy / "verify.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    sums_again(copy)
    code, output = command(copy, "--network", "regtest")
    assert code == 0
    assert "verify.py: differs from the stand-alone verifier that runs here; not run" in output


@pytest.mark.parametrize("again", [False, True])
def test_every_file_of_a_bundle_is_missed(copy: Path, again: bool) -> None:
    """Also with the sums made again without it; only the copy of verify.py need not be there."""
    needed = {*verify.BUNDLE} - {"SHA256SUMS"} if again else {*verify.BUNDLE}
    record = ("registry.jsonl", "allowed_signers", "primes.json", "primes.json.sig", "registry.jsonl")
    for name in [*sorted(needed), *(f"record/commitments/{one}" for one in record)]:
        kept = (copy / name).read_bytes()
        (copy / name).unlink()
        if again:
            sums_again(copy)
        found = verify.Verification(*verify.load(copy), policy=verify.Policy("regtest")).results
        assert "fail" in {one[1] for one in found}, name
        assert again or (1, "fail") in {one[:2] for one in found}, name
        (copy / name).write_bytes(kept)


HOSTILE = {
    "deep": b"[" * 200_000 + b"]" * 200_000,
    "huge integer": b'{"a":' + b"9" * 100_000 + b"}",
    "two keys": b'{"name":"primes","name":"primes"}',
    "no UTF-8": b"\xff\xfe",
    "NaN": b'{"a":NaN}',
    "empty": b"",
    "a list": b"[]",
    "lone surrogate": b'{"a":"\\ud800"}',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("path", ["key.json", "battery.json", "record/commitments/primes.json"])
def test_hostile_files_are_refused(copy: Path, path: str, content: bytes) -> None:
    (copy / path).write_bytes(content)
    sums_again(copy)
    code, output = command(copy, "--network", "regtest", "--json")
    assert code == 1
    assert (1, "fail") in statuses(output)


@pytest.mark.parametrize("path", ["commitments/registry.jsonl", "runs/primes-plan-1/log.jsonl"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lines_are_refused(copy: Path, path: str, content: bytes) -> None:
    (copy / "record" / path).write_bytes(content + b"\n")
    sums_again(copy)
    assert command(copy, "--network", "regtest")[0] == 1


def test_paths_that_lead_out_of_the_folder_are_refused(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret\n")
    sums = copy / "SHA256SUMS"
    row = f"{hashlib.sha256(b'secret' + bytes([10])).hexdigest()}  ../secret\n"
    sums.write_text(row + sums.read_text(encoding="utf-8"), encoding="utf-8")
    code, output = command(copy, "--network", "regtest")
    assert code == 1
    assert "../secret" in output


@pytest.mark.parametrize("place", ["elsewhere/file.json", "batteries/primes/key.json", "../out.json"])
def test_a_record_holds_public_files_of_a_workspace_only(copy: Path, place: str) -> None:
    path = copy / "record" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}")
    code, _ = command(copy, "--network", "regtest")
    assert code == 1


def test_links_and_special_files_are_refused(copy: Path, open_copy: Path) -> None:
    target = copy / "README.md"
    target.unlink()
    target.symlink_to("LICENSE")
    code, output = command(copy, "--network", "regtest")
    assert (code, "README.md is a link" in output) == (1, True)
    os.mkfifo(open_copy / "runs" / "pipe")
    code, output = command(open_copy, "--network", "regtest")
    assert (code, "runs/pipe" in output) == (1, True)


def test_absurd_sizes_are_refused_unread(copy: Path) -> None:
    with (copy / "big.bin").open("wb") as file:
        file.truncate(2**40)  # sparse: it takes no room
    code, output = command(copy, "--network", "regtest")
    assert (code, "big.bin: more data than" in output) == (1, True)


@pytest.mark.parametrize("detail", [[], {"a": 1}, None, "primes"])
def test_events_with_details_of_other_types_are_no_bug(open_copy: Path, detail: object) -> None:
    """A forger chains and signs what they like: the details of an event have any type."""
    registry = open_copy / REGISTRY
    previous, lines = "0" * 64, []
    for raw in registry.read_bytes().splitlines():
        line = json.loads(raw)
        if line["event"] != "key":
            line["detail"] = dict.fromkeys(line["detail"], detail)
        lines.append(verify.canonical({**line, "prev": previous}))
        previous = verify.sha256(lines[-1])
    registry.write_bytes(b"".join(line + b"\n" for line in lines))
    assert command(open_copy, "--network", "regtest")[0] == 1


def test_a_bug_is_told_without_a_traceback(
    complete: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr(verify.Verification, "step_1", fail)
    assert verify.main([str(complete), "--network", "regtest"]) == 70
    written = capsys.readouterr()
    assert written.out == ""
    assert "this is a bug: ZeroDivisionError: here; nothing is verified" in written.err
