"""SSHSIG: agreement with ssh-keygen both ways, and every changed byte caught."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto.signature import AuthorKey, PublicKey
from sealbench.errors import FormatError, SignatureFailed

KEY = AuthorKey(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = AuthorKey.generate()
MESSAGE = b'{"schema":"sealbench/example/v1"}'
SIGNATURE = KEY.sign(MESSAGE)
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")


def _blob(
    *, namespace: bytes = b"sealbench", reserved: bytes = b"", digest: bytes = b"sha512"
) -> list[bytes]:
    """The parts of a signature's blob, each to be replaced by a test."""
    inner = base64.b64decode("".join(SIGNATURE.decode().split("\n")[1:-2]))[-64:]
    strings = [KEY.public.wire, namespace, reserved, digest, _string(b"ssh-ed25519") + _string(inner)]
    return [b"SSHSIG", b"\x00\x00\x00\x01", *map(_string, strings)]


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _armour(blob: bytes) -> bytes:
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + 70] for start in range(0, len(text), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]).encode()


def test_the_parts_put_together_again_are_the_signature() -> None:
    assert _armour(b"".join(_blob())) == SIGNATURE


@needs_ssh_keygen
def test_ssh_keygen_makes_the_same_bytes_and_accepts_ours(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.touch(mode=0o600)
    secret.write_bytes(KEY.to_openssh())
    (tmp_path / "signers").write_text(KEY.public.allowed_signer + "\n")
    (tmp_path / "sig").write_bytes(SIGNATURE)
    made = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", str(secret), "-n", "sealbench"],
        input=MESSAGE,
        capture_output=True,
        check=True,
    )
    assert made.stdout == SIGNATURE
    verify = ["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "signers"), "-I", KEY.public.fingerprint]
    command = [*verify, "-n", "sealbench", "-s", str(tmp_path / "sig")]
    assert subprocess.run(command, input=MESSAGE, capture_output=True).returncode == 0
    assert subprocess.run(command, input=MESSAGE + b"x", capture_output=True).returncode != 0
    shown = subprocess.run(["ssh-keygen", "-l", "-f", str(secret)], capture_output=True, check=True)
    assert KEY.public.fingerprint in shown.stdout.decode()


@given(st.binary(max_size=200))
def test_what_is_signed_verifies_by_its_key_alone(message: bytes) -> None:
    signature = KEY.sign(message)
    KEY.public.verify(message, signature)
    with pytest.raises(SignatureFailed, match="another key"):
        OTHER.public.verify(message, signature)
    with pytest.raises(SignatureFailed, match="does not belong"):
        KEY.public.verify(message + b"\x00", signature)


def test_every_changed_byte_of_a_signature_is_caught() -> None:
    for position in range(len(SIGNATURE)):
        for bit in range(8):
            changed = bytearray(SIGNATURE)
            changed[position] ^= 1 << bit
            with pytest.raises(SignatureFailed):
                KEY.public.verify(MESSAGE, bytes(changed))


def test_every_cut_and_every_inserted_byte_is_caught() -> None:
    for position in range(len(SIGNATURE)):
        with pytest.raises(SignatureFailed):
            KEY.public.verify(MESSAGE, SIGNATURE[:position])
        with pytest.raises(SignatureFailed):
            KEY.public.verify(MESSAGE, SIGNATURE[:position] + b"\n" + SIGNATURE[position:])


def test_every_changed_byte_of_the_message_is_caught() -> None:
    for position in range(len(MESSAGE)):
        changed = bytearray(MESSAGE)
        changed[position] ^= 1
        with pytest.raises(SignatureFailed):
            KEY.public.verify(bytes(changed), SIGNATURE)


@pytest.mark.parametrize(
    ("position", "replacement", "message"),
    [
        (0, b"SSHSIX", "version 1"),
        (1, b"\x00\x00\x00\x02", "version 1"),
        (2, _string(OTHER.public.wire), "another key"),
        (3, _string(b"file"), "another namespace"),
        (4, _string(b"x"), "another namespace"),
        (5, _string(b"sha256"), "another hash"),
        (6, _string(_string(b"ssh-rsa") + _string(bytes(64))), "not an Ed25519 signature"),
        (6, _string(_string(b"ssh-ed25519") + _string(bytes(64))), "does not belong"),
        (6, _string(_string(b"ssh-ed25519") + _string(bytes(63))), "does not belong"),
        (6, _string(_string(b"ssh-ed25519") + _string(b"")), "does not belong"),
        (6, _string(_string(b"ssh-ed25519") + _string(bytes(64)) + b"x"), "left over"),
        (6, _string(_string(b"ssh-ed25519")), "too early"),
        (6, b"", "too early"),
        (6, b"\xff\xff\xff\xff", "too early"),
    ],
    ids=range(14),  # a fresh key in a test's name would give every worker other names
)
def test_each_part_must_be_what_it_is(position: int, replacement: bytes, message: str) -> None:
    parts = _blob()
    parts[position] = replacement
    with pytest.raises(SignatureFailed, match=message):
        KEY.public.verify(MESSAGE, _armour(b"".join(parts)))


def test_bytes_after_the_blob_are_refused() -> None:
    with pytest.raises(SignatureFailed, match="left over"):
        KEY.public.verify(MESSAGE, _armour(b"".join([*_blob(), b"\x00"])))


@given(st.binary(max_size=80) | st.binary(max_size=80).map(_armour))
def test_arbitrary_signature_files_give_only_the_projects_error(data: bytes) -> None:
    with pytest.raises(SignatureFailed):
        KEY.public.verify(MESSAGE, data)


def test_a_private_key_comes_back_from_its_file() -> None:
    again = AuthorKey.from_openssh(KEY.to_openssh())
    assert again.public.raw == KEY.public.raw
    assert again.sign(MESSAGE) == SIGNATURE


def test_no_text_form_of_a_key_holds_the_secret() -> None:
    secret = bytes(range(32))
    assert secret.hex() not in repr(vars(KEY)) + repr(KEY) + str(KEY)


@pytest.mark.parametrize("data", [b"", b"text", KEY.public.openssh.encode(), KEY.to_openssh()[:-40]])
def test_what_is_no_private_key_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="mine: not an unencrypted OpenSSH private key"):
        AuthorKey.from_openssh(data, "mine")


def test_other_kinds_of_keys_are_refused() -> None:
    curve = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    with pytest.raises(FormatError, match="not an Ed25519 key"):
        AuthorKey.from_openssh(curve)


@needs_ssh_keygen
def test_a_private_key_behind_a_passphrase_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", "passphrase", "-f", str(path)]
    subprocess.run(command, check=True)
    with pytest.raises(FormatError, match="not an unencrypted"):
        AuthorKey.from_openssh(path.read_bytes())


@given(st.binary(max_size=100))
def test_arbitrary_private_key_files_give_only_the_projects_error(data: bytes) -> None:
    for text in (data, b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + base64.b64encode(data)):
        with pytest.raises(FormatError):
            AuthorKey.from_openssh(text)


def test_a_public_key_comes_back_from_its_line() -> None:
    for line in (KEY.public.openssh, KEY.public.openssh + " a comment"):
        assert PublicKey.from_openssh(line).raw == KEY.public.raw
    assert KEY.public.allowed_signer.split() == [
        KEY.public.fingerprint,
        'namespaces="sealbench"',
        *KEY.public.openssh.split(),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-ed25519",
        "ssh-rsa AAAA",
        "ssh-ed25519 é",
        "ssh-ed25519 A",
        "ssh-ed25519 AAAA",
        "ssh-ed25519 " + base64.b64encode(_string(b"ssh-ed25519") + _string(bytes(31))).decode(),
        "ssh-ed25519 " + base64.b64encode(_string(b"ssh-rsa") + _string(bytes(32))).decode(),
        "ssh-ed25519 " + base64.b64encode(KEY.public.wire + b"x").decode(),
    ],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        PublicKey.from_openssh(text)


def test_a_public_key_has_one_spelling() -> None:
    line = KEY.public.openssh
    for position in range(len("ssh-ed25519 "), len(line)):
        for letter in "AQgwx=":
            changed = line[:position] + letter + line[position + 1 :]
            try:
                found = PublicKey.from_openssh(changed)
            except FormatError:
                continue
            assert changed == line or found.raw != KEY.public.raw


@given(st.text(max_size=80), st.text(max_size=80))
def test_arbitrary_public_keys_give_only_the_projects_error(one: str, two: str) -> None:
    for text in (one, f"ssh-ed25519 {one} {two}"):
        with pytest.raises(FormatError):
            PublicKey.from_openssh(text)
