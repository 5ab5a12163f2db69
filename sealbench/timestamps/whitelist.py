"""Which calendars are asked: who operates them, and which addresses upgrades may reach.

A proof names the calendar that holds its promise, and whoever made the proof chose that name. So an
upgrade asks only addresses on a whitelist: `https://*.calendar.DOMAIN` stands for every host below
that name, anything else for exactly itself. Plain `http` is for this machine's own loopback only.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from sealbench.errors import ConfigurationError

DEFAULT_WHITELIST = (
    "https://*.calendar.opentimestamps.org",
    "https://*.calendar.eternitywall.com",
    "https://*.calendar.catallaxy.com",
)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def split_address(uri: str) -> SplitResult:
    """Take apart a calendar's or explorer's address; ConfigurationError unless https, or http on loopback."""
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigurationError(f"{uri!r:.80} is not an address") from error
    wrong = parts.username is not None or parts.query or parts.fragment or not host
    if wrong or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))):
        raise ConfigurationError(
            f"{uri!r:.80} is not an https address",
            hint="use https://HOST; http:// only for this machine (http://127.0.0.1:PORT)",
        )
    return parts


def operator_of(uri: str) -> str:
    """Who runs a calendar, as its address tells: the last two labels of the name, or the IP address."""
    host = (split_address(uri).hostname or "").rstrip(".")
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ".".join(host.split(".")[-2:])


def allowed(uri: str, whitelist: Iterable[str]) -> bool:
    """Whether an upgrade may ask this address."""
    try:
        parts = split_address(uri)
    except ConfigurationError:
        return False
    return any(_matches(parts, pattern) for pattern in whitelist)


def _matches(parts: SplitResult, pattern: str) -> bool:
    scheme, _, rest = pattern.partition("://")
    if not rest.startswith("*."):
        return parts.geturl().rstrip("/") == pattern.rstrip("/")
    # A wildcard allows hosts, never a port or a path of the proof's choosing.
    bare = parts.path in {"", "/"} and parts.port is None
    return bare and parts.scheme == scheme and (parts.hostname or "").endswith(rest[1:].rstrip("/"))
