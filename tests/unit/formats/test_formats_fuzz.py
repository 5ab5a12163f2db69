"""Arbitrary and half-right bytes in every parser of `formats`: a document, or the project's error."""

from __future__ import annotations

from typing import Any

import pytest
from formats_samples import samples, value_of
from hypothesis import given, settings
from hypothesis import strategies as st

from sealbench.crypto import canonical
from sealbench.errors import FormatError
from sealbench.formats.base import Record
from sealbench.formats.registry import Registry
from sealbench.formats.run import read_log

MODELS = list(samples())
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=6)
SAFE = SCALARS.filter(
    lambda value: not isinstance(value, str) or not any(0xD800 <= ord(c) < 0xE000 for c in value)
)
JSON = st.recursive(
    SAFE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "path", "id"]), inner),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.binary(max_size=80))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_arbitrary_bytes(model: type[Record], data: bytes) -> None:
    with pytest.raises(FormatError):
        model.from_bytes(data, "file")


@settings(max_examples=60)
@given(st.data())
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_real_documents_with_arbitrary_values_put_in(model: type[Record], data: st.DataObject) -> None:
    value: dict[str, Any] = value_of(model)
    for key in data.draw(st.lists(st.sampled_from(sorted(value)), max_size=3)):
        value[key] = data.draw(JSON)
    encoded = canonical.encode(value)
    try:
        record = model.from_bytes(encoded, "file")
    except FormatError as error:
        assert error.message.startswith("file: ")
    else:
        assert record.to_bytes() == encoded


@given(st.binary(max_size=80), st.booleans())
def test_arbitrary_registries_and_logs(data: bytes, ended: bool) -> None:
    whole = data + b"\n" if ended else data
    with pytest.raises(FormatError):
        Registry.from_bytes(whole)
    if whole:
        with pytest.raises(FormatError):
            list(read_log(whole, "0" * 64))
