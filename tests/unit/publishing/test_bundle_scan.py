"""What must not be published is found with its place, its value is never told, and ciphertext is no alarm."""

from __future__ import annotations

import base64
import random

import pytest

from sealbench.publishing.bundle_scan import Forbidden, scan

SECRET = bytes(range(7, 39))
FORBIDDEN = Forbidden(
    secrets=(("the key of battery other", SECRET),),
    texts=(("the value of MY_KEY", "correct-horse"), ("the value of EMPTY_KEY", "EMPTY")),
    paths=("/srv/lab/audit", "/w"),
)

# Built from parts, so that this file holds no key-like text itself.
FOUND = [
    ("-----BEGIN OPENSSH " + "PRIVATE KEY-----", "a private key"),
    ("-----BEGIN " + "PRIVATE KEY-----", "a private key"),
    ("key sk-" + "proj-abc123" * 3, "an API key"),
    ('{"k":"sk-' + "ant-api03-" + "x9" * 12 + '"}', "an API key"),
    ("AIza" + "Sy0" * 11 + "ab", "an API key"),
    ("AKIA" + "ABCDEFGH12345678", "an API key"),
    ("ghp_" + "a1" * 18, "an API key"),
    ("Authorization: Bearer " + "ab12" * 8, "an access token"),
    ("https://joe:" + "secret@example.org/v1", "a password in a URL"),
    ("see /home/joe/audit", "a local path"),
    ("file:///home/joe/audit", "a local path"),
    ('"\\/home\\/joe\\/audit"', "a local path"),
    ("/Users/joe", "a local path"),
    ('"C:\\\\Users\\\\joe\\\\x"', "a local path"),
    ("C:\\Users\\joe", "a local path"),
    ("(/root/.cache)", "a local path"),
    ("in /srv/lab/audit/runs", "a local path"),
    ("it is correct-horse.", "the value of MY_KEY"),
    (SECRET.hex(), "the key of battery other"),
    (SECRET.hex().upper(), "the key of battery other"),
    (base64.b64encode(SECRET).decode(), "the key of battery other"),
    (base64.urlsafe_b64encode(SECRET).decode().rstrip("="), "the key of battery other"),
]
NOT_FOUND = [
    "an EMPTY placeholder",
    "https://example.org/home/page and https://example.org/Users/joe",
    "/srv/lab/auditing is another folder",
    "roots /root of 7",
    "task-based sk-short, ask-me-anything-about-2-primes",
    "[KEY REDACTED] Bearer [KEY REDACTED]",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA",
    "-----BEGIN SSH SIGNATURE-----",
    "home/joe without a root",
]


@pytest.mark.parametrize(("text", "what"), FOUND)
def test_found_with_its_place_and_without_its_value(text: str, what: str) -> None:
    found = scan(
        {"clean.txt": b"nothing\n", "a/b.jsonl": b"one\ntwo\n" + text.encode() + b"\nfour\n"}, FORBIDDEN
    )
    assert [(one.path, one.line, one.what) for one in found] == [("a/b.jsonl", 3, what)]
    assert text not in str(found[0])


@pytest.mark.parametrize("text", NOT_FOUND)
def test_harmless(text: str) -> None:
    assert scan({"a": text.encode()}, FORBIDDEN) == []


def test_raw_secret_bytes_and_several_places() -> None:
    found = scan({"b": b"x\n" + SECRET, "a": b"/home/joe\n/home/joe /home/ann"}, FORBIDDEN)
    assert [(one.path, one.line) for one in found] == [("a", 1), ("a", 2), ("b", 2)]


def test_ciphertext_and_headers_raise_no_alarm() -> None:
    noise = random.Random(3).randbytes(3_000_000)
    assert scan({"sealed.json": base64.b64encode(noise), "headers.bin": noise}, FORBIDDEN) == []
