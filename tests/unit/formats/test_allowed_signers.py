"""Files of trusted keys: which lines count, and that ssh-keygen agrees."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealbench.crypto.signature import AuthorKey
from sealbench.errors import FormatError
from sealbench.formats.allowed_signers import read_signers

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
# Fixed, so that every test process gives the cases the same names.
KEY, OTHER = (AuthorKey(Ed25519PrivateKey.from_private_bytes(bytes([number] * 32))) for number in (1, 2))
PUB = KEY.public.openssh
RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7"


def read(text: str, *, principals: bool = False) -> list[tuple[str, str]]:
    found = read_signers(text.encode(), "signers", AT, principals=principals)
    return [(one.key.fingerprint, one.whose) for one in found]


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        (PUB, ""),
        (f"{PUB} ada@example.org", "ada@example.org"),
        (f"ada@example.org {PUB}", "ada@example.org"),
        (f'"ada lovelace" {PUB}', "ada lovelace"),
        (f"ada@example.org,*@example.net {PUB} a comment", "ada@example.org,*@example.net"),
        (f'ada namespaces="sealbench" {PUB}', "ada"),
        (f'ada namespaces="git,seal*" {PUB}', "ada"),
        (f'ada NAMESPACES="sealbench",valid-after="20260101Z",valid-before="202701011200Z" {PUB}', "ada"),
        (f'ada valid-before="20260601120001Z" {PUB}', "ada"),
        (KEY.public.allowed_signer, KEY.public.fingerprint),
    ],
)
def test_lines_that_count(line: str, whose: str) -> None:
    assert read(f"# comment\n\n  {line}  \n") == [(KEY.public.fingerprint, whose)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f'ada namespaces="git" {PUB}', "line 1 is for the namespaces git, not for sealbench"),
        (f'ada valid-after="20260601120001Z" {PUB}', "is valid only after"),
        (f'ada valid-before="20260601120000Z" {PUB}', "was valid only before"),
        (f"ada cert-authority {PUB}", "has the option cert-authority, which is not followed here"),
        (f'ada new-option="x" {PUB}', "has the option new-option"),
        (f"ada {RSA}", "is of type ssh-rsa"),
        (RSA, "is of type ssh-rsa"),
        ("", "it is empty"),
    ],
)
def test_lines_that_do_not_count(line: str, reason: str) -> None:
    with pytest.raises(FormatError, match="may sign here") as caught:
        read(line)
    assert reason in caught.value.message
    assert read(f"{line}\n{OTHER.public.openssh}") == [(OTHER.public.fingerprint, "")]


@pytest.mark.parametrize(
    "line",
    [
        "ada@example.org",
        PUB[:40],
        f"ada {PUB[:40]}",
        f'ada valid-after="yesterday" {PUB}',
        f'ada valid-after="2026060112Z" {PUB}',
        f"ada namespaces=sealbench {PUB}",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
    ],
)
def test_lines_that_are_wrong(line: str) -> None:
    with pytest.raises(FormatError, match="signers line 2"):
        read(f"{OTHER.public.openssh}\n{line}")


def test_not_text() -> None:
    with pytest.raises(FormatError, match="not a file of public keys"):
        read_signers(b"\xff\xfe", "signers", AT)


def test_whose_key_it_is_can_be_demanded() -> None:
    assert read(f"ada {PUB}", principals=True) == [(KEY.public.fingerprint, "ada")]
    with pytest.raises(FormatError, match="signers line 1"):
        read(PUB, principals=True)


def test_a_time_without_z_is_local() -> None:
    local = AT.astimezone().replace(tzinfo=None)
    later = (local + timedelta(seconds=1)).strftime("%Y%m%d%H%M%S")
    assert read(f'ada valid-before="{later}" {PUB}')
    with pytest.raises(FormatError, match="valid only after"):
        read(f'ada valid-after="{later}" {PUB}')


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")
@pytest.mark.parametrize(
    "options",
    [
        "",
        'namespaces="git"',
        'namespaces="seal*,git"',
        'valid-after="20990101Z"',
        'valid-before="20990101Z"',
        'namespaces="sealbench",valid-before="20200101"',
    ],
)
def test_ssh_keygen_agrees(tmp_path: Path, options: str) -> None:
    signers, signature = tmp_path / "signers", tmp_path / "file.sig"
    signers.write_text(f"ada {options} {PUB}\n".replace("  ", " "))
    signature.write_bytes(KEY.sign(b"data"))
    command = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "ada", "-n", "sealbench"]
    theirs = subprocess.run([*command, "-s", str(signature)], input=b"data", capture_output=True).returncode
    try:
        read_signers(signers.read_bytes(), "signers", datetime.now(UTC))
    except FormatError:
        assert theirs != 0
    else:
        assert theirs == 0
