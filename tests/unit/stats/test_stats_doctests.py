"""Every example in a docstring runs and is right."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from sealbench import stats

MODULES = [f"sealbench.stats.{module.name}" for module in pkgutil.iter_modules(stats.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_every_public_test_has_an_example() -> None:
    functions = [getattr(stats, name) for name in stats.__all__ if name.islower()]
    assert len(functions) > 25
    assert [function.__name__ for function in functions if ">>>" not in (function.__doc__ or "")] == []
