"""`seal verify` for parts of a workspace, for keys and hashes of one's own, and for what it explains."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from tests.conftest import Seal
from tests.workshop import sealed

REGTEST = ("--network", "regtest")


@pytest.mark.parametrize(
    ("target", "judged"),
    [
        ("primes", "battery primes"),
        ("batteries/primes", "battery primes"),
        ("batteries/primes.sealed.json", "battery primes"),
        ("batteries/primes/battery.json", "battery primes"),
        ("commitments/primes.json", "commitment primes"),
        ("commitments/primes.json.ots", "commitment primes"),
        ("primes-plan", "plan primes-plan"),
        ("preregistrations/primes-plan.json", "plan primes-plan"),
        ("primes-plan-1", "run primes-plan-1"),
        ("runs/primes-plan-1", "run primes-plan-1"),
        ("runs/primes-plan-1/report.json", "run primes-plan-1"),
    ],
)
def test_parts_by_name_and_by_path(seal: Seal, demo_folder: Path, target: str, judged: str) -> None:
    done = seal("verify", target, *REGTEST, "--json", cwd=demo_folder)
    assert done.code == 0, done.err
    value = json.loads(done.out)
    assert value["subject"].startswith(f"{judged}; rests on ")
    assert value["verdict"] == "ok"


def test_parts_from_elsewhere_and_several_at_once(seal: Seal, demo_folder: Path, tmp_path: Path) -> None:
    done = seal("verify", str(demo_folder / "runs" / "pairs-plan-1"), *REGTEST, cwd=tmp_path)
    assert done.code == 0 and "judged: run pairs-plan-1; rests on battery pairs, plan pairs-plan" in done.out
    assert "elsewhere in this workspace, not judged here: " in done.out
    both = seal("verify", "runs/pairs-plan-1", "primes", *REGTEST, cwd=demo_folder)
    assert both.code == 0 and "judged: run pairs-plan-1, battery primes; " in both.out
    # A name is looked for in the workspace around, not only in its root.
    inner = seal("verify", "runs/pairs-plan-1", *REGTEST, cwd=demo_folder / "commitments")
    assert inner.code == 0 and "judged: run pairs-plan-1" in inner.out
    glob = [str(path) for path in sorted((demo_folder / "commitments").glob("*.json"))]
    whole = seal("verify", *glob, *REGTEST)
    assert whole.code == 0 and "judged:" not in whole.out  # files.json speaks for the whole
    (tmp_path / "paper").write_bytes(b"text")
    mixed = seal(
        "verify", *REGTEST, "--offline", "commitments/primes.json", str(tmp_path / "paper"), cwd=demo_folder
    )
    assert mixed.code == 3 and "2 files: 1 anchored, 1 unstamped" in mixed.out  # both as files with proofs


def test_a_damaged_run_fails_alone(seal: Seal, demo_copy: Path) -> None:
    report = demo_copy / "runs" / "primes-plan-1" / "report.json"
    report.write_bytes(report.read_bytes().replace(b'"12870"', b'"12871"'))
    bad = seal("verify", "primes-plan-1", *REGTEST, cwd=demo_copy)
    assert bad.code == 1 and "11  FAIL" in bad.out
    good = seal("verify", "pairs-plan-1", *REGTEST)
    assert good.code == 0
    assert "elsewhere in this workspace, not judged here: " in good.out and " 3 FAIL (seal" in good.out
    assert seal("verify", *REGTEST).code == 1


@pytest.fixture
def author(demo_folder: Path, tmp_path: Path) -> Path:
    """The author's public key, as a reader has it from elsewhere."""
    line = (demo_folder / "commitments" / "allowed_signers").read_text()
    path = tmp_path / "author.pub"
    path.write_text(line[line.index("ssh-ed25519") :])
    return path


def test_keys_of_ones_own(seal: Seal, demo_folder: Path, author: Path, tmp_path: Path) -> None:
    done = seal("verify", *REGTEST, "--key", str(author), cwd=demo_folder)
    assert done.code == 0 and "self-declared" not in done.out
    assert " -  OK           trusted key: SHA256:" in done.out
    signers = tmp_path / "signers"
    signers.write_text(f'ada@example.org namespaces="sealbench" {author.read_text()}')
    signed = seal("verify", *REGTEST, "--allowed-signers", str(signers))
    assert signed.code == 0 and f"the key of ada@example.org in {signers} line 1" in signed.out
    signers.write_text(f"eve@example.org {AuthorKey.generate().public.openssh}\n")
    wrong = seal("verify", *REGTEST, "--allowed-signers", str(signers))
    assert wrong.code == 1 and " -  FAIL         trusted key: the registry is kept by SHA256:" in wrong.out


def test_a_hash_and_open_items(seal: Seal, demo_folder: Path) -> None:
    digest = sha256_hex((demo_folder / "commitments" / "primes.json").read_bytes())
    asked = ("--expect-hash", digest, "--expect-hash", "0" * 64, "--at-least-revealed", "all")
    done = seal("verify", *REGTEST, *asked, cwd=demo_folder)
    assert done.code == 1
    lines = [line for line in done.out.splitlines() if line.startswith(" -  ")]
    assert lines == [
        f" -  OK           expected hash: {digest} is the file commitments/primes.json",
        f" -  FAIL         expected hash: nothing here has the SHA-256 {'0' * 64}",
        " -  OK           revealed: 16 of 16 items of pairs are open, wanted are 16",
        " -  OK           revealed: 16 of 16 items of primes are open, wanted are 16",
    ]


def test_a_sealed_battery_is_not_open_yet(seal: Seal, tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "workspace")
    asked = ("--accept-unanchored", *REGTEST, "--at-least-revealed")
    done = seal("verify", "primes", *asked, "1", cwd=workspace.root)
    assert done.code == 3 and "0 of 4 items of primes are open, wanted are 1" in done.out
    assert seal("verify", "primes", *asked, "5").code == 1


def test_files_and_hashes(seal: Seal, tmp_path: Path) -> None:
    (tmp_path / "paper").write_bytes(b"text")
    right = seal("verify", "paper", "--expect-hash", sha256_hex(b"text"), cwd=tmp_path)
    assert right.code == 3 and "paper: the file itself" in right.out  # right, and never stamped
    wrong = seal("verify", "paper", "--expect-hash", "1" * 64, "--json")
    assert wrong.code == 1 and json.loads(wrong.out)["requirements"][0]["status"] == "fail"


# Arguments, what the error says, what the hint says; {demo} is a workspace, {tmp} a folder beside it.
WRONG_USES = [
    (["nothing"], "nothing: no such file or folder, and no battery, plan or run", "seal verify"),
    (["runs/nothing"], "runs/nothing: no such file or folder", "seal verify"),
    (["same"], "same names a battery and a run", "seal verify batteries/same.sealed.json"),
    (["--explain", "13"], "there is no step '13'", "from 1 to 12"),
    (["--explain", "files"], "there is no step 'files'", "from 1 to 12"),
    (["--expect-hash", "abc"], "is no SHA-256", "sha256sum commitments/NAME.json"),
    (["--at-least-revealed", "half"], "a number of items from 1, or all", "--at-least-revealed all"),
    (["--min-grade", "good"], "there is no grade 'good'", "choose one of"),
    (["--network", "testnet9"], "there is no network", "choose one of"),
    (["--key", "{tmp}/absent.pub"], "absent.pub: cannot be read", "check the path"),
    (["--key", "{tmp}/text"], "text line 1: neither a public key", "ssh-keygen -l -f"),
    (["--allowed-signers", "{tmp}/author.pub"], "author.pub line 1", "--allowed-signers"),
    (["--key", "commitments/allowed_signers"], "so it vouches for nothing", "from the author"),
    (["--since", "commitments/checkpoints/3.json"], "so it vouches for nothing", "or kept"),
    (["--battery", "x"], "--battery needs a commitment", "FILE.commitment.json"),
    ([".", "--battery", "x"], "--battery is for other people's commitments", "seal verify ."),
    (["{tmp}/text", "--key", "{tmp}/author.pub"], "carries no signature", "ssh-keygen -Y verify"),
    (["{tmp}/text", "--at-least-revealed", "1"], "is about a battery", "of a workspace"),
    (["{tmp}/text", "--since", "{tmp}/3.json"], "is about a workspace's registry", "of a workspace"),
    ([".", "{tmp}/text"], ". is a workspace: one at a time", "seal verify ."),
]


@pytest.mark.parametrize(("arguments", "message", "hint"), WRONG_USES, ids=[use[1] for use in WRONG_USES])
def test_wrong_use(
    seal: Seal, demo_copy: Path, author: Path, arguments: list[str], message: str, hint: str
) -> None:
    (author.parent / "text").write_text("text\n")
    checkpoint = demo_copy / "commitments" / "checkpoints" / "3.json"
    (author.parent / "3.json").write_bytes(checkpoint.read_bytes())
    (demo_copy / "batteries" / "same.sealed.json").write_text("{}")
    (demo_copy / "runs" / "same").mkdir()
    given = [one.replace("{tmp}", str(author.parent)) for one in arguments]
    done = seal("verify", *given, cwd=demo_copy)
    assert done.code == 2, done.out + done.err
    assert done.err.startswith("seal: error: ") and message in done.err
    assert "\nseal: hint: " in done.err and hint in done.err.split("seal: hint: ")[1]
    assert "Traceback" not in done.err and done.out == ""


def test_explanations(seal: Seal, tmp_path: Path) -> None:
    listed = seal("verify", "--explain", cwd=tmp_path)
    assert listed.code == 0 and " 4  Bitcoin attestations" in listed.out
    one = seal("verify", "--explain", "5")
    assert one.code == 0
    for words in ("step 5   ciphertext", "catches  another ciphertext", "    digest=$(sha256sum "):
        assert words in one.out
    value = json.loads(seal("verify", "--explain", "--json").out)
    assert [step["step"] for step in value["steps"]] == list(range(1, 13))


def test_help_groups_every_option(seal: Seal) -> None:
    text = seal("verify", "--help").out
    for heading in ("Whom and what you trust:", "Time:", "What must be open:", "Network:", "Output:"):
        assert f"\n{heading}\n" in text
    assert text.rstrip().endswith("-h, --help  Show this message and exit.")
    assert max(map(len, text.splitlines())) <= 80 or "seal verify" in max(text.splitlines(), key=len)


def on_terminal(folder: Path, columns: int, *arguments: str) -> str:
    """What `seal verify` writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "sealbench", "--no-color", "verify", *arguments]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while block := os.read(ours, 65536):
            text += block
    except OSError:
        pass  # Linux's way of saying that the other end is closed
    os.close(ours)
    process.wait()
    return text.decode().replace("\r\n", "\n")


def test_eighty_columns(demo_folder: Path, seal: Seal) -> None:
    text = on_terminal(demo_folder, 80, *REGTEST, "--every")
    too_long = [line for line in text.splitlines() if len(line) > 80]
    assert all(" " not in line.strip() for line in too_long)  # only a long path may stick out
    assert not any(re.search(r"\b[0-9a-f]{64}\b", line) for line in too_long)
    folded = [line for line in text.splitlines() if re.match(r" *[0-9a-f]{64}", line)]
    assert folded and all(line.startswith(" " * 15) for line in folded)
    piped = seal("verify", *REGTEST, "--every", cwd=demo_folder).out
    assert " ".join(text.split()) == " ".join(piped.split())
    numbered = [line for line in piped.splitlines() if line[:2].strip().isdigit()]
    results = json.loads(seal("verify", *REGTEST, "--json").out)["steps"]
    assert len(numbered) == len(results)  # one line for each step and subject
    places = [piped.index(words) for words in ("12  OK", "\nverdict: ", "\nnot proved by any of this:")]
    assert places == sorted(places)
