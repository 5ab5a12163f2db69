"""`seal retire NAME`: asked, published in full, checked by itself; leaks and wrong uses publish nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from sealbench.formats.run import RawResponse
from sealbench.standalone import verify
from sealbench.store import Workspace
from tests.conftest import Seal
from tests.workshop import planned, sealed

VERIFY = ["verify", "--network", "regtest", "--accept-unanchored", "--json"]
RETIRE = ["retire", "primes", "--confirm", "primes", "--no-stamp"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one finished, reported run of `primes`."""
    from sealbench.cli.root import invoke

    root = tmp_path_factory.mktemp("retire") / "workspace"
    planned(root)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(root)
        for command in (["run", "--no-stamp"], ["report"]):
            assert invoke(command) == 0
    return root


@pytest.fixture
def ready(source: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(source, tmp_path / "workspace")))


def edit_response(workspace: Workspace, number: int, text: str) -> None:
    """Put a text into one private raw response, as a server could have sent it."""
    path = workspace.private_run("plan-1") / "responses.jsonl"
    lines = path.read_bytes().split(b"\n")
    value = json.loads(lines[number - 1])
    value["raw"]["text"] = text
    lines[number - 1] = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    path.write_bytes(b"\n".join(lines))


def standalone(folder: Path) -> int:
    """The exit code of verify.py over a bundle."""
    return verify.main([str(folder), "--network", "regtest", "--accept-unanchored"])


def nothing_published(workspace: Workspace) -> bool:
    return not any((workspace.root / one).exists() for one in ("batteries/primes", "archives"))


def test_published_and_checked_by_itself(seal: Seal, ready: Workspace, tmp_path: Path) -> None:
    command = [*RETIRE, "--author", "Ada Lovelace", "--license", "CC0-1.0", "--json"]
    done = seal(*command, cwd=ready.root)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["schema"], told["runs"], told["withheld"]) == ("sealbench/retire/v1", ["plan-1"], {})
    assert "seal verify batteries/primes" in done.err
    assert seal(*VERIFY, cwd=ready.root).code == 0

    alone = Path(shutil.copytree(ready.retired("primes"), tmp_path / "alone"))
    found = json.loads(seal(*VERIFY, str(alone), cwd=tmp_path).out)
    assert found["verdict"] == "ok_except_time"
    assert standalone(alone) == 0
    assert not [step for step in found["steps"] if step["status"] == "fail"]
    assert "Ada Lovelace" in (alone / "CITATION.cff").read_text()
    assert "CC0-1.0" in (alone / "LICENSE").read_text()
    for line in (alone / "items.jsonl").read_text().splitlines():
        assert json.loads(line)["canary"] == (alone / "CANARY.txt").read_text().rstrip("\n")
    assert "canary" not in (alone / "battery.json").read_text()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_reads_the_sums(seal: Seal, ready: Workspace) -> None:
    assert seal(*RETIRE, cwd=ready.root).code == 0
    command = ["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"]
    assert subprocess.run(command, cwd=ready.retired("primes"), capture_output=True).returncode == 0


def test_the_archive_is_the_folder_and_the_registry_names_it(
    seal: Seal, ready: Workspace, tmp_path: Path
) -> None:
    told = json.loads(seal(*RETIRE, "--json", cwd=ready.root).out)
    archive = ready.archive("primes")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert told["archive_sha256"] == digest
    assert digest in ready.registry.read_text().splitlines()[-1]
    assert (archive.parent / ".gitignore").read_text() == "*\n"
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "out", filter="data")
    one, other = (
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "out" / "primes", ready.retired("primes"))
    )
    assert one == other


def test_a_wrong_archive_hash_in_the_event_is_found(seal: Seal, ready: Workspace) -> None:
    from sealbench.verification.tree import PublicTree
    from sealbench.verification.verifier import Verifier

    assert seal(*RETIRE, cwd=ready.root).code == 0
    tree = PublicTree.from_folder(ready.root)
    registry = tree.get("commitments/registry.jsonl") or b""
    said = hashlib.sha256(ready.archive("primes").read_bytes()).hexdigest().encode()
    result = Verifier().verify(
        tree.with_file("commitments/registry.jsonl", registry.replace(said, b"0" * 64))
    )
    assert any("does not give the archive" in one.detail for one in result.step(8))


def test_the_name_is_asked_for(seal: Seal, ready: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.prompt", lambda *_, **__: "prime")
    refused = seal("retire", "primes", "--no-stamp", cwd=ready.root)
    assert (refused.code, "nothing was published" in refused.err) == (2, True)
    assert nothing_published(ready)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "primes")
    assert seal("retire", "primes", "--no-stamp", cwd=ready.root).code == 0


def test_missing_proofs_are_told_before_the_name_is_asked_for(seal: Seal, ready: Workspace) -> None:
    done = seal(*RETIRE, cwd=ready.root)
    assert "have no proof that leads into a block yet" in done.err
    assert "seal stamp" in done.err


LEAKS = {
    "a home folder": "see /home/joe/x",
    "an API key": "key sk-" + "abcDEF123" * 4,
    "a private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_leak_is_refused_with_its_place(seal: Seal, ready: Workspace, kind: str) -> None:
    edit_response(ready, 2, LEAKS[kind])
    refused = seal(*RETIRE, cwd=ready.root)
    assert refused.code == 1
    assert "nothing was published: batteries/primes/responses/plan-1.jsonl line 2: a" in refused.err
    assert "seal: hint: seal retire primes --withhold plan-1:2" in refused.err
    assert LEAKS[kind] not in refused.err
    assert nothing_published(ready)
    assert seal(*VERIFY, cwd=ready.root).code == 0


def test_secrets_of_this_machine_are_looked_for(
    seal: Seal, ready: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sealbench.crypto.signature import AuthorKey

    assert (
        seal("create", "primality", "--name", "other", "--per-class", "2", "--no-stamp", cwd=ready.root).code
        == 0
    )
    other = json.loads(ready.battery_key("other").read_bytes())["secret"]
    author = AuthorKey.from_openssh(ready.author_key.read_bytes()).secret_bytes().hex()
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-known-shape")
    for text, what in (
        (f"x {other}", "the key of battery other"),
        (author, "the author's key"),
        ("a-key-of-no-known-shape", "the value of OPENAI_API_KEY"),
        (f"in {ready.root}", "a local path"),
    ):
        edit_response(ready, 1, text)
        refused = seal(*RETIRE, cwd=ready.root)
        assert (refused.code, f"line 1: {what}" in refused.err) == (1, True), refused.err
        assert nothing_published(ready)


def test_a_leak_in_a_bound_file_keeps_the_battery_sealed(seal: Seal, ready: Workspace) -> None:
    (ready.run("plan-1") / "report.md").write_text("written in /home/joe\n")
    refused = seal(*RETIRE, cwd=ready.root)
    # A changed public file is refused before anything else is looked at.
    assert (refused.code, "was changed since the last command" in refused.err) == (1, True)
    assert nothing_published(ready)


def test_a_withheld_response_is_counted_and_not_ok(seal: Seal, ready: Workspace, tmp_path: Path) -> None:
    edit_response(ready, 2, LEAKS["a home folder"])
    done = seal(*RETIRE, "--withhold", "plan-1:2", cwd=ready.root)
    assert done.code == 0, done.err
    assert "withheld of the responses of plan-1: 1" in done.out
    published = (ready.retired("primes") / "responses" / "plan-1.jsonl").read_bytes().split(b"\n")
    assert published[1] == b'{"body":null,"response_id":null,"seq":1,"text":null,"withheld":true}'
    assert (
        "Of the responses of run plan-1, 1 withheld." in (ready.retired("primes") / "README.md").read_text()
    )
    assert '"withheld":[{"count":1,"run":"plan-1"}]' in ready.registry.read_text().splitlines()[-1]
    alone = Path(shutil.copytree(ready.retired("primes"), tmp_path / "alone"))
    assert standalone(alone) == 4
    for target in (ready.root, alone):
        found = seal(*VERIFY, str(target), cwd=tmp_path)
        assert found.code == 4
        (step,) = [one for one in json.loads(found.out)["steps"] if one["step"] == 10]
        assert step["status"] == "not_checked"
        assert "1 of 4 responses are withheld by the author" in step["detail"]


def test_a_withheld_response_does_not_hide_a_changed_one(seal: Seal, ready: Workspace) -> None:
    edit_response(ready, 3, "another text than the body's")
    assert seal(*RETIRE, "--withhold", "plan-1:2", cwd=ready.root).code == 0
    found = json.loads(seal(*VERIFY, cwd=ready.root).out)
    (step,) = [one for one in found["steps"] if one["step"] == 10]
    assert (found["verdict"], step["status"]) == ("fail", "fail")
    assert "line 3" in step["detail"]


WRONG = [
    (["--withhold", "plan-1"], "is not RUN:LINE"),
    (["--withhold", "plan-1:0"], "is not RUN:LINE"),
    (["--withhold", "plan-1:9"], "none in line 9"),
    (["--withhold", "other:1"], "is no run of this battery"),
    (["--license", "CC-BY"], "no licence this command knows"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_wrong_options(seal: Seal, ready: Workspace, options: list[str], words: str) -> None:
    refused = seal(*RETIRE, *options, cwd=ready.root)
    assert (refused.code, words in refused.err, "seal: hint:" in refused.err) == (2, True, True)
    assert nothing_published(ready)


def test_two_batteries_in_a_row_have_the_same_registry(seal: Seal, tmp_path: Path) -> None:
    """The second bundle does not hang on the first one's retirement, whose checkpoint is in no block."""
    workspace, _ = sealed(tmp_path / "w")
    for command in (
        ["create", "subset_sum", "--name", "sums", "--per-class", "2", "--no-stamp"],
        RETIRE,
        ["retire", "sums", "--confirm", "sums", "--no-stamp"],
    ):
        done = seal(*command, cwd=workspace.root)
        assert done.code == 0, done.err
    one, other = (
        (workspace.retired(name) / "record/commitments/registry.jsonl").read_bytes()
        for name in ("primes", "sums")
    )
    assert one == other
    assert workspace.registry.read_bytes().startswith(one)
    for target in ("batteries/sums", "."):
        assert seal(*VERIFY, target, cwd=workspace.root).code == 0


def test_a_rebuilt_battery_brings_what_it_answers(seal: Seal, ready: Workspace, tmp_path: Path) -> None:
    again = [
        "create",
        "primality",
        "--name",
        "again",
        "--per-class",
        "2",
        "--supersedes",
        "primes",
        "--no-stamp",
    ]
    assert seal(*again, cwd=ready.root).code == 0
    assert seal("retire", "again", "--confirm", "again", "--no-stamp", cwd=ready.root).code == 0
    record = ready.retired("again") / "record"
    assert {path.name for path in (record / "runs").rglob("*") if path.is_file()} == {"report.json"}
    alone = Path(shutil.copytree(ready.retired("again"), tmp_path / "alone"))
    assert standalone(alone) == 0
    found = json.loads(seal(*VERIFY, str(alone), cwd=tmp_path).out)
    assert found["verdict"] == "ok_except_time", [one for one in found["steps"] if one["status"] == "fail"]
    (record / "commitments/primes.json").rename(tmp_path / "moved")
    assert (
        seal(*VERIFY, str(shutil.copytree(ready.retired("again"), tmp_path / "less")), cwd=tmp_path).code == 1
    )


def test_what_a_dead_process_left_is_replaced(seal: Seal, ready: Workspace) -> None:
    left = ready.retired("primes")
    (left / "record").mkdir(parents=True)
    (left / "stale.txt").write_text("of an earlier attempt")
    (left / "SHA256SUMS").write_text("of an earlier attempt")
    hidden = left.with_name(".tmp-primes")
    hidden.mkdir()
    (hidden / "key.json").write_text("half")
    assert seal(*RETIRE, cwd=ready.root).code == 0
    assert not (left / "stale.txt").exists()
    assert not hidden.exists()
    assert seal(*VERIFY, cwd=ready.root).code == 0


def test_somebodys_own_files_are_not_replaced(seal: Seal, ready: Workspace) -> None:
    notes = ready.retired("primes") / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    refused = seal(*RETIRE, cwd=ready.root)
    assert (refused.code, "holds other files" in refused.err) == (2, True)
    assert notes.read_text() == "mine"


def test_no_raw_response_knows_the_word_withheld() -> None:
    """The private file cannot say so: only retirement leaves a response out."""
    assert "withheld" not in RawResponse.model_fields
