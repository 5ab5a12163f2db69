"""`seal verify` for archives and addresses: what is found in them, what is refused, what is left behind."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealbench.crypto.digest import sha256_file
from tests.conftest import Seal

REGTEST = ("--network", "regtest")
PUBLIC = ("batteries", "commitments", "preregistrations", "runs", "sealbench.toml")
GIT = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def packed(source: Path, archive: Path, top: str = "") -> Path:
    """The public files of a workspace as an archive, by its name's kind."""
    files = sorted(path for name in PUBLIC for path in [source / name, *(source / name).rglob("*")])
    named = [(path, f"{top}{path.relative_to(source).as_posix()}") for path in files if path.is_file()]
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
            for path, name in named:
                out.write(path, name)
    else:
        with tarfile.open(archive, "w:gz" if archive.name.endswith("gz") else "w") as out:
            for path, name in named:
                out.add(path, name)
    return archive


@pytest.mark.parametrize("name", ["w.tar", "w.tar.gz", "w.tgz", "w.zip", "W.ZIP"])
@pytest.mark.parametrize("top", ["", "w-main/"])
def test_archives(
    seal: Seal, demo_folder: Path, tmp_path: Path, temporary: Path, name: str, top: str
) -> None:
    archive = packed(demo_folder, tmp_path / name.lower(), top).rename(tmp_path / name)
    done = seal("verify", name, *REGTEST, "--offline", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    value = json.loads(done.out)
    assert value["verdict"] == "ok"
    assert value["source"] == f"{name}, SHA-256 {sha256_file(archive)}"


def test_a_tampered_workspace_in_an_archive(
    seal: Seal, demo_copy: Path, tmp_path: Path, temporary: Path
) -> None:
    log = demo_copy / "runs" / "primes-plan-1" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"cap":300', b'"cap":301', 1))
    packed(demo_copy, tmp_path / "w.tar")
    done = seal("verify", "w.tar", *REGTEST, cwd=tmp_path)
    assert done.code == 1 and "10  FAIL" in done.out
    assert done.out.startswith("target: w.tar, SHA-256 ")


def test_a_retired_bundle_in_its_archive(
    seal: Seal, demo_folder: Path, tmp_path: Path, temporary: Path
) -> None:
    archive = tmp_path / "primes.tar"
    shutil.copy(demo_folder / "archives" / "primes.tar", archive)
    asked = ("--expect-hash", sha256_file(archive), "--at-least-revealed", "all")
    done = seal("verify", "primes.tar", *REGTEST, *asked, cwd=tmp_path)
    assert done.code == 0, done.out
    assert "is the archive primes.tar" in done.out and "16 of 16 items of primes" in done.out
    data = archive.read_bytes()
    at = data.index(b'"charged_tokens":') + len(b'"charged_tokens":')
    archive.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    bad = seal("verify", "primes.tar", *REGTEST, *asked)
    assert bad.code == 1 and " 1  FAIL" in bad.out and " -  FAIL         expected hash" in bad.out
    assert "next: seal verify --explain 1" in bad.err


def test_the_hash_of_an_archive_can_be_expected(seal: Seal, demo_folder: Path, tmp_path: Path) -> None:
    archive = packed(demo_folder, tmp_path / "w.tar")
    done = seal("verify", "w.tar", *REGTEST, "--expect-hash", sha256_file(archive), cwd=tmp_path)
    assert done.code == 0 and "is the archive w.tar" in done.out


def test_a_stamped_archive_is_a_file_with_its_proof(seal: Seal, demo_folder: Path, tmp_path: Path) -> None:
    shutil.copy(demo_folder / "commitments" / "primes.json.ots", tmp_path / "w.tar.ots")
    packed(demo_folder, tmp_path / "w.tar")
    done = seal("verify", "w.tar", *REGTEST, "--offline", cwd=tmp_path)
    assert done.code == 1 and "w.tar: the proof is for a file with sha256" in done.out


def test_refused_archives(seal: Seal, tmp_path: Path, temporary: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as out:
        link = tarfile.TarInfo("runs/evil")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    with zipfile.ZipFile(tmp_path / "else.zip", "w") as empty:
        empty.writestr("README", "nothing to see")
    (tmp_path / "text.tar.gz").write_text("text")
    for name, words in (
        ("evil.tar", "'runs/evil' is a link, a device or the like"),
        ("else.zip", "else.zip holds no workspace, no retired battery, and no file with a proof"),
        ("text.tar.gz", "neither a tar, a gzipped tar nor a zip archive"),
    ):
        done = seal("verify", name, cwd=tmp_path)
        assert done.code == 1 and words in done.err and "seal: hint: " in done.err, done.err
        assert done.out == "" and "Traceback" not in done.err


@pytest.fixture
def repository(demo_folder: Path, tmp_path: Path) -> str:
    """A git repository of the demo workspace: its file:// address."""
    root = tmp_path / "repository"
    shutil.copytree(demo_folder, root, ignore=shutil.ignore_patterns("tampered-copy", ".seal"))
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "workspace")):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    return f"file://{root}"


@GIT
def test_a_repository(seal: Seal, repository: str, temporary: Path) -> None:
    done = seal("verify", "--allow-file", repository, *REGTEST)
    assert done.code == 0, done.err
    assert done.out.startswith(f"target: {repository} at commit ")
    assert "verdict: ok (regtest" in done.out
    refused = seal("verify", repository, *REGTEST)
    assert refused.code == 2 and "repositories are cloned from https://" in refused.err
    gone = seal("verify", "--allow-file", repository + "-gone")
    assert gone.code == 4 and "git clone failed" in gone.err and "by hand" in gone.err


@GIT
def test_a_repository_of_other_peoples_commitments(seal: Seal, tmp_path: Path, temporary: Path) -> None:
    root = tmp_path / "foreign"
    shutil.copytree(Path(__file__).parents[1] / "data" / "ots" / "nlnl", root)
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "commitments")):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    (tmp_path / "none.toml").write_text("")
    headers = Path(__file__).parents[1] / "data" / "ots" / "headers_mainnet.json"
    done = seal(
        "verify",
        "--allow-file",
        f"file://{root}",
        "--network",
        "mainnet",
        "--headers",
        str(headers),
        cwd=tmp_path,
    )
    assert done.code in (0, 4) and "8 files: " in done.out
    assert str(temporary) not in done.out + done.err
    assert "next: " not in done.err  # nobody can upgrade what is not theirs


class _Archives(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved.tar":
            self.send_response(302)
            self.send_header("location", "/w.tar")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: tests read stderr."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server of a folder's files on the loopback."""
    folder = tmp_path / "served"
    folder.mkdir()

    def handler(*arguments: object) -> _Archives:
        return _Archives(*arguments, directory=str(folder))  # type: ignore[arg-type]

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", folder
        finally:
            server.shutdown()
            thread.join()


def test_an_archive_at_an_address(
    seal: Seal, demo_folder: Path, served: tuple[str, Path], temporary: Path
) -> None:
    url, folder = served
    packed(demo_folder, folder / "w.tar", "w/")
    for name in ("w.tar", "moved.tar"):
        done = seal("verify", f"{url}/{name}", *REGTEST)
        assert done.code == 0, done.err
        assert done.out.startswith(f"target: {url}/{name}, SHA-256 {sha256_file(folder / 'w.tar')}")
    absent = seal("verify", f"{url}/absent.zip")
    assert absent.code == 4 and "answered 404" in absent.err


ADDRESSES = [
    (
        "https://example.org/r",
        4,
        "--offline forbids the network",
        "git clone --depth 1 https://example.org/r",
    ),
    ("git@example.org:r.git", 4, "--offline forbids", "git clone --depth 1 git@example.org:r.git"),
    ("https://example.org/b.tar.gz", 4, "--offline forbids", "curl -L -o FILE https://example.org/b.tar.gz"),
    ("http://example.org/r", 2, "cloned from https://", "by hand"),
    ("http://example.org/b.zip", 2, "only https is followed", "by hand"),
    ("ext::sh -c touch% evil", 2, "no such file or folder", "seal verify FOLDER"),
    ("ext://sh", 2, "cloned from https://", "by hand"),
    ("git@-oProxyCommand=x:r", 2, "no such file or folder", "seal verify FOLDER"),
    ("git@example.org:-r", 2, "cloned from https://", "by hand"),
    ("https://me:secret@example.org/r", 2, "user name or password", "by hand"),
    ("https://token@example.org/r.tar", 2, "user name or password", "by hand"),
    (
        "https://example.org/b.tar?key=secret",
        4,
        "--offline forbids",
        "curl -L -o FILE 'https://example.org/b.tar?…'",
    ),
    ("https://[::1/x.tar", 2, "not an address", "seal verify https://HOST"),
    ("https://example.org:99999/x.tar", 2, "not an address", "seal verify https://HOST"),
    ("https://[::1", 2, "cloned from https://", "by hand"),
    ("https://", 2, "cloned from https://", "by hand"),
    ("https://-o/x", 2, "cloned from https://", "by hand"),
    ("ssh:///x", 2, "cloned from https://", "by hand"),
    ("", 2, "an empty TARGET", "seal verify FOLDER"),
    ("ssh://me:secret@example.org/r", 2, "user name or password", "by hand"),
]


@pytest.mark.parametrize(("url", "code", "message", "hint"), ADDRESSES, ids=[one[0] for one in ADDRESSES])
def test_addresses_offline_and_wrong(
    seal: Seal, tmp_path: Path, url: str, code: int, message: str, hint: str
) -> None:
    done = seal("verify", "--offline", url, cwd=tmp_path)
    assert done.code == code, done.err
    assert message in done.err and hint in done.err.split("seal: hint: ")[1]
    assert "secret" not in done.err and "token" not in done.err and "fetching" not in done.err
    two = seal("verify", url, url)
    assert two.code == 2


# Raises at the first sign of a socket, before anything of the program is imported.
NO_SOCKETS = """
import sys
def forbid(event, arguments):
    if event.startswith("socket."):
        sys.stderr.write(f"SOCKET {event}\\n")
        raise RuntimeError("a socket was made")
sys.addaudithook(forbid)
from sealbench.cli.root import main
main(sys.argv[1:])
"""


def offline_targets(demo_folder: Path, folder: Path) -> list[list[str]]:
    packed(demo_folder, folder / "w.tar.gz")
    shutil.copytree(Path(__file__).parents[1] / "data" / "ots" / "nlnl", folder / "nlnl")
    return [
        [str(demo_folder), *REGTEST],
        [str(demo_folder / "runs" / "primes-plan-1"), *REGTEST, "--json"],
        [str(folder / "w.tar.gz"), *REGTEST, "--at-least-revealed", "all"],
        [str(folder / "nlnl")],
        ["https://example.org/repository"],
        ["--explain", "4"],
    ]


EXPECTED = [0, 0, 0, 4, 4, 0]


def test_offline_makes_no_socket(demo_folder: Path, tmp_path: Path) -> None:
    codes = []
    for arguments in offline_targets(demo_folder, tmp_path):
        command = [sys.executable, "-c", NO_SOCKETS, "verify", "--offline", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert "SOCKET" not in done.stderr, (arguments, done.stderr)
        codes.append(done.returncode)
    assert codes == EXPECTED
    # The hook is one that bites: the same without --offline tries the network.
    command = [sys.executable, "-c", NO_SOCKETS, "verify", str(tmp_path / "nlnl")]
    assert "SOCKET" in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr


def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return (
        subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not _can_unshare(), reason="no network namespaces here")
def test_offline_in_a_network_namespace_of_its_own(demo_folder: Path, tmp_path: Path) -> None:
    codes = []
    for arguments in offline_targets(demo_folder, tmp_path):
        command = [
            "unshare",
            "--net",
            "--map-root-user",
            sys.executable,
            "-m",
            "sealbench",
            "verify",
            "--offline",
        ]
        done = subprocess.run([*command, *arguments], cwd=tmp_path, env=dict(os.environ), capture_output=True)
        codes.append(done.returncode)
    assert codes == EXPECTED
