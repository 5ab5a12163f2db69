"""Configuration files: precedence, what is refused and how it is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sealbench import config
from sealbench.config import DEFAULT_CALENDARS, Settings, load
from sealbench.errors import ConfigurationError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a configuration of their own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sealbench.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    assert load(None) == load(tmp_path / "missing.toml") == Settings()
    assert Settings().network == "mainnet"
    assert len(Settings().calendars) == len(DEFAULT_CALENDARS) >= 3


def test_every_setting_is_read(tmp_path: Path) -> None:
    found = load(
        written(
            tmp_path,
            """
            network = "regtest"
            [timestamps]
            calendars = ["http://127.0.0.1:1"]
            minimum_operators = 1
            explorers = []
            core_rpc = "http://127.0.0.1:8332"
            core_cookie = "/cookie"
            electrum = ["host:50002"]
            [run]
            max_connections = 3
            [endpoints.sol]
            provider = "openai"
            extra = { reasoning_effort = "low" }
            """,
        )
    )
    assert found.network == "regtest"
    assert found.calendars == ("http://127.0.0.1:1",)
    assert (found.minimum_operators, found.explorers, found.electrum) == (1, (), ("host:50002",))
    assert (found.core_rpc, found.core_cookie) == ("http://127.0.0.1:8332", "/cookie")
    assert found.max_connections == 3
    assert found.endpoints["sol"]["extra"]["reasoning_effort"] == "low"


def test_the_workspace_comes_before_the_user(tmp_path: Path, home: Path) -> None:
    user = home / "sealbench" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(
        '[run]\nmax_connections = 2\n[endpoints.a]\nprovider = "x"\n[endpoints.b]\nprovider = "x"\n'
    )
    assert config.user_configuration() == user
    assert load(None).max_connections == 2
    found = load(written(tmp_path, '[run]\nmax_connections = 5\n[endpoints.b]\nprovider = "y"\n'))
    assert found.max_connections == 5
    assert {name: table["provider"] for name, table in found.endpoints.items()} == {"a": "x", "b": "y"}


def test_the_users_file_lies_in_the_home_folder_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config.user_configuration() == Path.home() / ".config" / "sealbench" / "config.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network = ", "Invalid value"),
        ('network = "testnet"', "network must be one of mainnet, regtest"),
        ("network = 1", "network must be a str"),
        ("colour = 1", "unknown setting colour"),
        ("[timestamps]\ncalendar = []", "unknown setting timestamps.calendar"),
        ("timestamps = 1", "unknown setting timestamps"),
        ("[run]\nnetwork = 'regtest'", "unknown setting run.network"),
        ("[timestamps]\ncalendars = 'a'", "timestamps.calendars must be a list"),
        ("[timestamps]\ncalendars = [1]", "timestamps.calendars must be a list of strings"),
        ("[timestamps]\nminimum_operators = 0", "timestamps.minimum_operators must be at least 1"),
        ("[run]\nmax_connections = true", "run.max_connections must be a int"),
        ("[run]\nmax_connections = 1.5", "run.max_connections must be a int"),
        ("endpoints = 1", "endpoints must be tables"),
        ("[endpoints]\nsol = 1", "endpoints must be tables"),
        ("[endpoints.sol]\napi_key = 'sk-secret'", "endpoints.sol holds a key"),
        ("x = " + "[" * 20_000, "sealbench.toml: "),
        ("x = " + "9" * 5000, "sealbench.toml: "),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(written(tmp_path, text))
    assert message in caught.value.message
    assert "sk-secret" not in caught.value.message + caught.value.hint


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "sealbench.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError):
        load(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("[]{}=.,\"'#\n abnetworkru1-", max_size=50))
def test_arbitrary_text_gives_settings_or_the_projects_error(tmp_path: Path, text: str) -> None:
    try:
        found = load(written(tmp_path, text))
    except ConfigurationError:
        return
    assert isinstance(found, Settings)
