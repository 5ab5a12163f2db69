"""Every document: its own re-encoding, no field more or fewer, no other type, one spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from formats_samples import FREE, changed, places, samples, value_of

from sealbench.crypto import canonical
from sealbench.errors import FormatError
from sealbench.formats.base import Record

MODELS = list(samples())
named = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def is_free(path: tuple[Any, ...]) -> bool:
    return any(part in FREE for part in path[:-1] if isinstance(part, str) and part != "parameters") or (
        "parameters" in path[1:-1]
    )


@named
def test_a_real_document_is_its_own_encoding(model: type[Record]) -> None:
    data = samples()[model]
    record = model.from_bytes(data, "sample")
    assert record.to_bytes() == data
    assert model.from_value(record.to_value()) == record
    assert canonical.decode(data) == json.loads(data)


@named
def test_a_document_does_not_change(model: type[Record]) -> None:
    record = model.from_bytes(samples()[model])
    field = next(iter(model.model_fields))
    with pytest.raises(ValueError, match="frozen"):
        setattr(record, field, None)


@named
def test_every_missing_field_is_an_error(model: type[Record]) -> None:
    value = value_of(model)
    for path in places(value):
        if isinstance(path[-1], str) and not is_free(path):
            with pytest.raises(FormatError, match=r"^doc"):
                model.from_bytes(canonical.encode(changed(value, path)), "doc")


@named
def test_every_renamed_or_added_field_is_an_error(model: type[Record]) -> None:
    value = value_of(model)
    for path in places(value):
        if isinstance(path[-1], str) and not is_free(path):
            for new in ("another_name", path[-1] + "_"):
                with pytest.raises(FormatError):
                    model.from_bytes(canonical.encode(changed(value, path, rename=new)))
            added = changed(value, (*path[:-1], "zzz"), 1)
            with pytest.raises(FormatError):
                model.from_bytes(canonical.encode(added))


@named
def test_another_type_is_an_error_or_keeps_its_bytes(model: type[Record]) -> None:
    """What is accepted must come out as it went in: no 1 for "1", no true for 1, no list for a tuple."""
    value = value_of(model)
    refused = 0
    for path in places(value):
        for new in (None, True, 0, -1, 2**53 - 1, "", "x", "0", [], {}, [1], {"a": 1}):
            data = canonical.encode(changed(value, path, new))
            try:
                record = model.from_bytes(data)
            except FormatError:
                refused += 1
            else:
                assert record.to_bytes() == data
    assert refused > 20


@named
@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"0", b'""', b"{}", b"{", b'{"schema":"other"}'])
def test_what_is_no_such_document_is_an_error(model: type[Record], data: bytes) -> None:
    with pytest.raises(FormatError, match=r"^doc"):
        model.from_bytes(data, "doc")


def test_other_layouts_and_the_fields_other_name_are_errors() -> None:
    for model in MODELS:
        data = samples()[model]
        for bent in (data + b"\n", b" " + data, json.dumps(json.loads(data)).encode()):
            with pytest.raises(FormatError, match="canonical form"):
                model.from_bytes(bent, "doc")
        if "schema_" in model.model_fields:
            value = json.loads(data)
            value["schema_"] = value.pop("schema")
            with pytest.raises(FormatError, match="re-encoding"):
                model.from_bytes(canonical.encode(value), "doc")
