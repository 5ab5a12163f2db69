"""One file over https, within a size and a time; redirects only to where https leads again."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from sealbench.errors import NetworkError, UsageError
from sealbench.fetching.new_folder import Limits
from sealbench.http import THIS_MACHINE, download

REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})


def check_address(url: str) -> None:
    """UsageError unless the address is https (or http on this machine) and holds no password."""
    try:
        parts = urlsplit(url)
        host, userinfo = parts.hostname, "@" in parts.netloc
    except ValueError as error:
        raise UsageError(
            f"{url[:200]!r}: not an address", hint="seal verify https://HOST/FILE.tar.gz"
        ) from error
    if userinfo:
        raise UsageError(
            f"the address of {host} holds a user name or password, which would end up in logs",
            hint="clone or download it by hand, then: seal verify FOLDER",
        )
    loopback = host is not None and host in {name.strip("[]") for name in THIS_MACHINE}
    if host is None or not (parts.scheme == "https" or (parts.scheme == "http" and loopback)):
        raise UsageError(
            f"{url[:200]}: only https is followed", hint="download it by hand, then: seal verify FILE"
        )


async def download_file(client: httpx.AsyncClient, url: str, path: Path, limits: Limits) -> None:
    """Write the file at an address to `path`, which must not exist.

    Raises
    ------
    UsageError : an address that is not followed, the first or one that it redirects to.
    NetworkError : no such file, no answer, or more or later than the limits allow.
    """
    address = url
    with path.open("xb") as stream:
        for _ in range(REDIRECTS + 1):
            check_address(address)
            answer = await download(client, address, stream, limit=limits.transfer, timeout=limits.seconds)
            if answer.status == HTTPStatus.OK:
                return
            target = answer.headers.get("location", "")
            if answer.status not in _MOVED or not target:
                raise NetworkError(
                    f"{address}: answered {answer.status}", hint="is this the address of the archive itself?"
                )
            address = urljoin(address, target)
    raise NetworkError(f"{url}: redirected more than {REDIRECTS} times", hint="download it by hand")
