"""One file over https, within a size and a time; redirects only to where https leads again."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

import httpx

from sealbench.errors import NetworkError, UsageError
from sealbench.fetching.new_folder import Limits
from sealbench.http import THIS_MACHINE, Answer, download

REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})


def check_address(url: str) -> None:
    """UsageError unless the address is https (or http on this machine) and holds no password."""
    try:
        parts = urlsplit(url)
        host, userinfo, _ = parts.hostname, "@" in parts.netloc, parts.port
    except ValueError as error:
        raise UsageError(
            f"{shown_address(url)}: not an address", hint="seal verify https://HOST/FILE.tar.gz"
        ) from error
    if userinfo:
        raise UsageError(
            f"the address of {host} holds a user name or password, which would end up in logs",
            hint="clone or download it by hand, then: seal verify FOLDER",
        )
    loopback = host is not None and host in {name.strip("[]") for name in THIS_MACHINE}
    if host is None or not (parts.scheme == "https" or (parts.scheme == "http" and loopback)):
        raise UsageError(
            f"{shown_address(url)}: only https is followed",
            hint="download it by hand, then: seal verify FILE",
        )


def shown_address(url: str) -> str:
    """An address for people and logs: its query, which may hold a token, left out, and cut to a line."""
    plain, mark, _ = url.partition("?")
    return plain[:200] + ("?…" if mark else "")


async def download_file(client: httpx.AsyncClient, url: str, path: Path, limits: Limits) -> None:
    """Write the file at an address to `path`, which must not exist.

    Raises
    ------
    UsageError : an address that is not followed.
    NetworkError : no such file, no answer, more or later than the limits allow, or a redirect to an
        address that is not followed.
    """
    check_address(url)
    address = url
    with path.open("xb") as stream:
        for _ in range(REDIRECTS + 1):
            answer = await _ask(client, address, stream, limits)
            if answer.status == HTTPStatus.OK:
                return
            target = answer.headers.get("location", "")
            if answer.status not in _MOVED or not target:
                raise NetworkError(
                    f"{shown_address(address)}: answered {answer.status}",
                    hint="is this the address of the archive itself?",
                )
            address = _next_address(address, target)
    raise NetworkError(
        f"{shown_address(url)}: redirected more than {REDIRECTS} times", hint="download it by hand"
    )


def _next_address(address: str, target: str) -> str:
    try:
        found = urljoin(address, target)
        check_address(found)
    except (UsageError, ValueError) as error:
        reason = error.message if isinstance(error, UsageError) else "not an address"
        raise NetworkError(
            f"{shown_address(address)} redirects: {reason}",
            hint="download it by hand, then: seal verify FILE",
        ) from error
    return found


async def _ask(client: httpx.AsyncClient, address: str, stream: BinaryIO, limits: Limits) -> Answer:
    """One request; an error of it shows no more of the address than `shown_address`."""
    try:
        return await download(client, address, stream, limit=limits.transfer, timeout=limits.seconds)
    except NetworkError as error:
        told = error.message.replace(address, shown_address(address))
        raise NetworkError(told, hint="download it by hand, then: seal verify FILE") from error
