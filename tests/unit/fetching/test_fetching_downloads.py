"""Downloads: https only, redirects only to https, within a size and a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from sealbench.errors import NetworkError, UsageError
from sealbench.fetching.downloads import REDIRECTS, check_address, download_file
from sealbench.fetching.new_folder import Limits
from sealbench.http import new_client

URL = "https://example.org/a.tar"


def get(answer: Callable[[httpx.Request], httpx.Response], path: Path, url: str = URL) -> bytes:
    async def go() -> None:
        async with new_client(transport=httpx.MockTransport(answer)) as client:
            await download_file(client, url, path, Limits(transfer=1000, seconds=5))

    asyncio.run(go())
    return path.read_bytes()


def moved(target: str) -> httpx.Response:
    return httpx.Response(302, headers={"location": target}, content=b"moved there")


def test_redirects_are_followed_to_https(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "example.org":
            return moved("/b.tar") if request.url.path == "/a.tar" else moved("https://other.example/c")
        return httpx.Response(200, content=b"archive")

    assert get(answer, tmp_path / "file") == b"archive"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("http://example.org/a.tar", "only https is followed"),
        ("file:///etc/passwd", "only https is followed"),
        ("https://user:secret@example.org/", "holds a user name or password"),
        ("https://[::1", "not an address|Invalid URL"),
        ("http://169.254.169.254/latest", "only https is followed"),
    ],
)
def test_redirects_elsewhere_are_not_followed(tmp_path: Path, target: str, words: str) -> None:
    with pytest.raises(NetworkError, match=words) as caught:
        get(lambda _: moved(target), tmp_path / "file")
    assert "secret" not in caught.value.message


def test_endless_redirects(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=f"redirected more than {REDIRECTS} times"):
        get(lambda _: moved(URL), tmp_path / "file")


@pytest.mark.parametrize("status", [204, 304, 404, 500])
def test_other_answers(tmp_path: Path, status: int) -> None:
    with pytest.raises(NetworkError, match=f"answered {status}"):
        get(lambda _: httpx.Response(status), tmp_path / "file")


def test_queries_are_not_shown(tmp_path: Path) -> None:
    for answer in (httpx.Response(403), httpx.Response(200, content=bytes(1001))):
        with pytest.raises(NetworkError) as caught:
            get(lambda _, answer=answer: answer, tmp_path / str(answer.status_code), f"{URL}?token=secret")
        assert "secret" not in caught.value.message and f"{URL}?…" in caught.value.message


def test_too_long(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="longer than 1000 bytes"):
        get(lambda _: httpx.Response(200, content=bytes(1001)), tmp_path / "file")


@pytest.mark.parametrize(
    "url", [URL, "https://EXAMPLE.org:8443/a.zip", "http://127.0.0.1:80/a", "http://[::1]/a"]
)
def test_addresses(url: str) -> None:
    check_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a",
        "ftp://example.org/a",
        "https://",
        "https://[::1",
        "https://a@example.org/",
        "http://127.0.0.1.example.org/a",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        check_address(url)
