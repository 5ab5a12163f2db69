from __future__ import annotations

import pytest

from sealbench.config import DEFAULT_CALENDARS
from sealbench.errors import ConfigurationError
from sealbench.timestamps.whitelist import (
    DEFAULT_WHITELIST,
    allowed,
    is_loopback,
    operator_of,
    split_address,
)


@pytest.mark.parametrize(
    "uri",
    [
        "https://alice.btc.calendar.opentimestamps.org",
        "https://finney.calendar.eternitywall.com/",
        "https://btc.calendar.catallaxy.com",
    ],
)
def test_the_real_calendars_are_asked(uri: str) -> None:
    assert allowed(uri, DEFAULT_WHITELIST)


@pytest.mark.parametrize(
    "uri",
    [
        "http://alice.btc.calendar.opentimestamps.org",
        "https://alice.btc.calendar.opentimestamps.org:8443",
        "https://alice.btc.calendar.opentimestamps.org/path",
        "https://calendar.opentimestamps.org.example.com",
        "https://evilcalendar.opentimestamps.org",
        "https://example.com/.calendar.opentimestamps.org",
        "https://user@alice.btc.calendar.opentimestamps.org",
        "https://10.0.0.1",
        "http://127.0.0.1:80",
        "file:///etc/passwd",
        "https://",
        "https://a:99999",
        "",
        "//a.calendar.catallaxy.com",
    ],
)
def test_nothing_else_is(uri: str) -> None:
    assert not allowed(uri, DEFAULT_WHITELIST)


def test_configured_calendars_are_matched_whole() -> None:
    own = ["http://127.0.0.1:14788", "https://ots.example.org/calendar"]
    assert allowed("http://127.0.0.1:14788", own)
    assert allowed("https://ots.example.org/calendar/", own)
    assert not allowed("http://127.0.0.1:14789", own)
    assert not allowed("https://ots.example.org/calendar/more", own)
    assert not allowed("https://ots.example.org", own)


def test_operators() -> None:
    assert {operator_of(uri) for uri in DEFAULT_CALENDARS} == {
        "opentimestamps.org",
        "eternitywall.com",
        "catallaxy.com",
    }
    assert operator_of("http://127.0.0.1:1") == operator_of("http://127.0.0.1:2")


def test_plain_http_is_for_loopback_only() -> None:
    for uri in ("http://127.0.0.1:5", "http://localhost", "http://[::1]:5", "https://example.org/api"):
        split_address(uri)
    for uri in ("http://example.org", "ftp://127.0.0.1", "https://example.org?q", "https://a#b", "x"):
        with pytest.raises(ConfigurationError):
            split_address(uri)
    assert is_loopback("127.8.9.1")
    assert not is_loopback("128.0.0.1")
