"""The archive has one form: the bytes that GNU tar gives, whatever made it."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from sealbench.errors import UsageError
from sealbench.publishing.bundle_archive import archive_parts, archive_sha256

FILES = {
    "a/b": b"x" * 700,
    "a.b": b"y",
    "record.json": b"",
    "record/commitments/x.json": b"1" * 512,
    f"record/commitments/reveals/{'n' * 60}-subset.json.sig": b"3",
    "z": b"q" * 20_000,
}
OPTIONS = [
    *("--format=ustar", "--sort=name", "--mtime=@0", "--owner=:0", "--group=:0", "--numeric-owner"),
    "--mode=u=rwX,go=rX",
]


def whole(top: str, files: dict[str, bytes]) -> bytes:
    return b"".join(archive_parts(top, files))


def gnu_tar() -> bool:
    found = shutil.which("tar")
    return (
        found is not None and b"GNU tar" in subprocess.run([found, "--version"], capture_output=True).stdout
    )


@pytest.mark.skipif(not gnu_tar(), reason="needs GNU tar")
@pytest.mark.parametrize("top", ["primes", "p" * 60])
def test_gnu_tar_gives_the_same_bytes(tmp_path: Path, top: str) -> None:
    for path, data in FILES.items():
        target = tmp_path / top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o600)
    subprocess.run(["tar", *OPTIONS, "-cf", "made.tar", top], cwd=tmp_path, check=True)
    assert (tmp_path / "made.tar").read_bytes() == whole(top, FILES)


def test_python_reads_it_and_order_of_files_does_not_matter() -> None:
    data = whole("primes", FILES)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        assert {name: stream.read() for name, stream in found.items() if stream} == {
            f"primes/{path}": content for path, content in FILES.items()
        }
        assert {(one.uid, one.gid, one.mtime, one.uname) for one in archive} == {(0, 0, 0, "")}
    assert whole("primes", dict(reversed(FILES.items()))) == data
    assert archive_sha256("primes", FILES) == hashlib.sha256(data).hexdigest()


def test_a_path_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(UsageError, match="too long for a tar file"):
        whole("primes", {f"{'d' * 120}/{'n' * 101}": b""})
