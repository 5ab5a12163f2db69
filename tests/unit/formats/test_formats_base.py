"""The kinds of fields: what each accepts, what it refuses, and that hostile ones cost nothing."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sealbench.errors import FormatError
from sealbench.formats import base

GOOD: dict[str, tuple[Any, list[Any]]] = {
    "Int": (base.Int, [0, -5, 2**53 - 1]),
    "Count": (base.Count, [0, 2**53 - 1]),
    "Str": (base.Str, ["", "é"]),
    "Bool": (base.Bool, [True, False]),
    "Hash": (base.Hash, ["0123456789abcdef" * 4]),
    "Identifier": (base.Identifier, ["0123456789abcdef"]),
    "Label": (base.Label, ["a", "digits_6", "x" * 64]),
    "Name": (base.Name, ["a", "0-a_b", "x" * 64]),
    "Decimal": (base.Decimal, ["0", "-1.5", "7.8e-05", "1e+300", "1e-99999"]),
    "Digits": (base.Digits, ["0", "-12", "9" * 5000]),
    "Fingerprint": (base.Fingerprint, ["SHA256:" + "A" * 43]),
    "Instant": (base.Instant, ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000001Z"]),
    "PublicPath": (base.PublicPath, ["a", "commitments/a.json.ots", "runs/a-1/log.jsonl"]),
}
BAD: dict[str, list[Any]] = {
    "Int": [True, 1.0, "1", None, 2**53, -(2**53)],
    "Count": [-1, True, "0", 2**53],
    "Str": [1, None, b"x"],
    "Bool": [0, 1, "true"],
    "Hash": ["0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n", 0],
    "Identifier": ["0" * 15, "g" * 16, "0" * 16 + "\n"],
    "Label": ["", "A", "a-b", "x" * 65, "a\n", "é"],
    "Name": ["", "-a", "_a", "A", "x" * 65, "a.b", "a/b", "a\n", "٣"],
    "Decimal": ["", "1.", ".5", "1e", "1E5", "+1", "inf", "nan", "1e-999999", "1" * 1001, "1\n", "٣"],
    "Digits": ["", "+1", "1.0", "1\n", "٣"],
    "Fingerprint": ["SHA256:", "MD5:" + "A" * 43, "SHA256:" + "A" * 43 + "="],
    "Instant": [
        "2026-11-30T12:00:00",
        "2026-11-30 12:00:00Z",
        "2026-11-30T12:00:00+00:00",
        "2026-02-30T12:00:00Z",
        "2026-11-30T12:00:00.1Z",
        "2026-11-30T12:00:60Z",
        "0000-01-01T00:00:00Z",
        "٢026-11-30T12:00:00Z",
        1,
    ],
    "PublicPath": [
        "",
        "/etc/passwd",
        "a//b",
        "a/../b",
        "..",
        "./a",
        "a/.hidden",
        ".seal/author.key",
        "a/",
        "a b",
        "a\\b",
        "x" * 256,
        "a\n",
    ],
}


@pytest.mark.parametrize("kind", GOOD)
def test_good_values_pass_unchanged(kind: str) -> None:
    annotation, values = GOOD[kind]
    for value in values:
        assert TypeAdapter(annotation).validate_python(value) == value


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, values in BAD.items() for value in values]
)
def test_bad_values_are_refused(kind: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(GOOD[kind][0]).validate_python(value)


@given(st.text(max_size=30))
def test_every_accepted_decimal_is_a_fraction(text: str) -> None:
    try:
        TypeAdapter(base.Decimal).validate_python(text)
    except ValidationError:
        return
    Fraction(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_come_back(moment: datetime) -> None:
    text = base.format_instant(moment, microseconds=True)
    assert base.parse_instant(text) == moment
    whole = base.format_instant(moment)
    assert base.parse_instant(whole) == moment.replace(microsecond=0)
    assert TypeAdapter(base.Instant).validate_python(text) == text


def test_instants_of_other_zones_are_written_in_utc() -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    assert base.format_instant(datetime(2026, 1, 1, 2, tzinfo=zone)) == "2025-12-31T20:30:00Z"


@pytest.mark.parametrize("text", ["2026-11-30T12:00:00", "", "Z", "٢026-11-30T12:00:00Z"])
def test_what_is_no_instant_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        base.parse_instant(text)


def test_errors_name_the_first_wrong_field() -> None:
    with pytest.raises(FormatError, match=r"^x: sha256: "):
        base.FileHash.from_value({"path": "a", "sha256": "no"}, "x")
    with pytest.raises(FormatError, match=r"^x: top level: "):
        base.FileHash.from_value([], "x")


def test_the_digest_is_that_of_the_file() -> None:
    file = base.FileHash(path="a", sha256="0" * 64)
    assert file.digest() == base.sha256_hex(file.to_bytes())


def test_records_of_one_kind_share_the_names_of_their_fields_and_copies_do_not_change_them() -> None:
    first, second = (
        base.FileHash.from_bytes(base.FileHash(path=path, sha256="0" * 64).to_bytes()) for path in ("a", "b")
    )
    assert first.model_fields_set is second.model_fields_set
    changed = first.model_copy(update={"path": "c", "strange": 1})
    assert first.model_fields_set == {"path", "sha256"}
    assert (changed.path, first.path) == ("c", "a")
    assert pickle.loads(pickle.dumps(first)) == first == base.FileHash(path="a", sha256="0" * 64)  # noqa: S301
