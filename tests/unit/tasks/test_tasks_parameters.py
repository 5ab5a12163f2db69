"""Parameters: what is read, and errors that name the parameter and a value that works."""

import pytest

from sealbench.errors import ConfigurationError, UsageError
from sealbench.tasks.base import get_family
from sealbench.tasks.parameters import Given, integer_of, integers_of, words_of

KNOWN = ("digits", "kinds", "range")


def test_reading():
    given = Given("f", {"digits": "9, 6,7..8", "kinds": "b,a", "range": "3..5"}, KNOWN)
    assert given.integers("digits", 6, 1, 9) == [6, 7, 8, 9]
    assert given.choices("kinds", "a", ("a", "b", "c")) == ["a", "b"]
    assert given.span("range", (1, 2), 1, 9) == (3, 5)
    empty = Given("f", {}, KNOWN)
    assert empty.integers("digits", 6, 1, 9) == [6]
    assert empty.integer("digits", 6, 1, 9) == 6
    assert empty.span("range", (1, 2), 1, 9) == (1, 2)
    assert empty.choice("kinds", "a", ("a", "b")) == "a"


@pytest.mark.parametrize("text", ["", "x", "1.5", "-1", "0", "10", "²", "9..7", "9" * 50, "5,", "1..", "--3"])
def test_bad_numbers_name_the_parameter_and_what_works(text):
    with pytest.raises(ConfigurationError, match=r"f\.digits") as caught:
        Given("f", {"digits": text}, KNOWN).integers("digits", 6, 1, 9)
    assert caught.value.hint.startswith("for example: -p f.digits=")


def test_bad_words_and_names():
    with pytest.raises(ConfigurationError, match="must be of: apple, pear") as caught:
        Given("f", {"kinds": "appel"}, KNOWN).choices("kinds", "pear", ("apple", "pear"))
    assert caught.value.hint.endswith("f.kinds=apple")
    with pytest.raises(ConfigurationError, match="takes one word"):
        Given("f", {"kinds": "a,b"}, KNOWN).choice("kinds", "a", ("a", "b"))
    with pytest.raises(ConfigurationError, match="no parameter 'digit'") as caught:
        Given("f", {"digit": "6"}, KNOWN)
    assert "f.digits" in caught.value.hint
    with pytest.raises(ConfigurationError, match="ends before it starts"):
        Given("f", {"range": "5..3"}, KNOWN).span("range", (1, 2), 1, 9)


def test_incomplete_parameters_are_an_error():
    for read, name in ((integer_of, "a"), (integers_of, "a"), (words_of, "a")):
        with pytest.raises(ConfigurationError, match="not complete"):
            read({"b": 1}, name)


BAD = [
    ("primality", {"digits": "0"}, "digits"),
    ("primality", {"digits": "1"}, "digits"),
    ("primality", {"digits": "2"}, "digits"),
    ("primality", {"digits": "41"}, "digits"),
    ("primality", {"composite": "semi"}, "composite"),
    ("primality", {"least_factor": "0"}, "least_factor"),
    ("primality", {"least_factor": "1"}, "least_factor"),
    ("primality", {"least_factor": "2"}, "least_factor"),
    ("primality", {"least_factor": "8..10"}, "least_factor"),
    ("primality", {"digits": "3", "least_factor": "7..47"}, "least_factor"),
    ("primality", {"digits": "3", "composite": "carmichael"}, "digits"),
    ("primality", {"sampling": "biased"}, "sampling"),
    ("subset_sum", {"k": "1"}, "k"),
    ("subset_sum", {"k": "6"}, "k"),
    ("subset_sum", {"length": "1"}, "length"),
    ("subset_sum", {"k": "3", "length": "2"}, "length"),
    ("subset_sum", {"k": "3", "length": "5"}, "length"),
    ("subset_sum", {"k": "5", "length": "60"}, "length"),
    ("subset_sum", {"values": "0..4"}, "values"),
    ("subset_sum", {"values": "1..4"}, "values"),
    ("subset_sum", {"values": "100..110"}, "values"),
    ("subset_sum", {"k": "4", "values": "100..200"}, "values"),
    ("subset_sum", {"witness": "0..3"}, "witness"),
    ("subset_sum", {"witness": "1..121"}, "witness"),
    ("digit_sum_parity", {"digits": "1"}, "digits"),
    ("satisfiability", {"variables": "2"}, "variables"),
    ("satisfiability", {"clauses": "1"}, "clauses"),
]


@pytest.mark.parametrize(("name", "given", "parameter"), BAD)
def test_what_cannot_work_names_the_parameter_and_its_hint_works(name, given, parameter):
    family = get_family(name)
    with pytest.raises(ConfigurationError, match=rf"{name}\.{parameter}") as caught:
        family.complete(given)
    prefix = f"for example: -p {name}.{parameter}="
    assert caught.value.hint.startswith(prefix)
    family.complete({**given, parameter: caught.value.hint.removeprefix(prefix)})


@pytest.mark.parametrize("name", ["primality", "subset_sum", "digit_sum_parity", "satisfiability"])
def test_defaults_are_complete_and_per_class_must_be_positive(name):
    family = get_family(name)
    parameters = family.complete({})
    assert len(family.slots(parameters, 3)) == 6
    for per_class in (0, -1):
        with pytest.raises(UsageError, match="--per-class"):
            family.slots(parameters, per_class)


@pytest.mark.parametrize(
    ("name", "given", "per_class"),
    [
        ("primality", {"digits": "3"}, 200),
        ("primality", {"composite": "carmichael"}, 12),
        ("primality", {"digits": "3", "composite": "semiprime"}, 50),
        ("digit_sum_parity", {"digits": "2"}, 40),
        ("subset_sum", {"length": "4", "values": "1..30"}, 10_000),
    ],
)
def test_a_range_too_narrow_for_the_wanted_items(name, given, per_class):
    family = get_family(name)
    with pytest.raises(UsageError, match=name) as caught:
        family.slots(family.complete(given), per_class)
    assert "--per-class" in caught.value.hint
