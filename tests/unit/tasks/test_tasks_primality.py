"""What primality draws: kinds, sizes, matching, balance, repeatability."""

from collections import Counter

import pytest
import sympy
from tasks_helpers import draw

from sealbench.crypto.stream import Stream
from sealbench.stats import fisher_exact
from sealbench.tasks.base import get_family


@pytest.mark.parametrize("sampling", ["matched", "natural"])
@pytest.mark.parametrize("digits", [4, 6, 12, 30])
def test_numbers_are_what_their_kind_says(sampling, digits):
    per_class = 2 if digits == 4 else 8
    kinds = "small_factor,semiprime,carmichael"
    _, instances = draw("primality", per_class, digits=digits, composite=kinds, sampling=sampling)
    assert len(instances) == 6 * per_class
    for instance in instances:
        number = int(instance.params["n"])
        assert len(str(number)) == digits
        assert sympy.isprime(number) == (instance.class_label == "prime")
        assert instance.search == ("exhaustive" if instance.class_label == "prime" else "witness")
        assert instance.stratum == f"digits_{digits}_{instance.kind}"
        if sampling == "matched":
            assert number % 2 and number % 3 and number % 5
        if instance.class_label == "composite":
            _check_kind(instance, number, int(instance.certificate["factor"]))


def _check_kind(instance, number, factor):
    cofactor = number // factor
    if instance.kind == "small_factor":
        assert 2 <= factor <= 47
        assert all(number % smaller for smaller in range(2, factor))
    elif instance.kind == "semiprime":
        assert sympy.isprime(factor) and sympy.isprime(cofactor)
        assert factor < cofactor < 1.5 * factor
    else:
        assert pow(2, number - 1, number) == 1


def test_default_is_one_stratum_of_six_digits_and_factors_from_7_to_47():
    family = get_family("primality")
    parameters = family.complete({})
    assert parameters == {
        "digits": [6],
        "composite": ["small_factor"],
        "least_factor": [7, 47],
        "sampling": "matched",
    }
    slots = family.slots(parameters, 8)
    assert {(slot.kind, slot.stratum) for slot in slots} == {("small_factor", "digits_6")}
    assert Counter(slot.class_label for slot in slots) == {"prime": 8, "composite": 8}


def test_each_kind_and_stratum_holds_both_classes_equally():
    family = get_family("primality")
    parameters = family.complete({"digits": "6,9", "composite": "semiprime,small_factor"})
    counts = Counter((s.kind, s.stratum, s.class_label) for s in family.slots(parameters, 5))
    assert len(counts) == 8
    assert set(counts.values()) == {5}


@pytest.mark.parametrize("kind", ["small_factor", "semiprime"])
def test_matched_classes_share_residues_and_windows(kind):
    _, instances = draw("primality", 1500, digits=9, composite=kind)
    by_class = {}
    for instance in instances:
        by_class.setdefault(instance.class_label, []).append(instance.params["n"])
    for feature in (lambda n: n % 30 in (1, 7, 11, 13), lambda n: n % 10 == 7, lambda n: n > 5 * 10**8):
        table = [sum(map(feature, by_class[label])) for label in ("prime", "composite")]
        assert fisher_exact([[table[0], 1500], [table[1], 1500]]).p > 0.001
    assert {n % 30 for n in by_class["prime"]} == {n % 30 for n in by_class["composite"]}


def test_carmichael_partners_share_the_residue_of_carmichael_numbers():
    _, instances = draw("primality", 200, digits=25, composite="carmichael")
    residues = {label: Counter() for label in ("prime", "composite")}
    for instance in instances:
        residues[instance.class_label][int(instance.params["n"]) % 30] += 1
    # Chernick's numbers end in 1 or 9, and so do their primes.
    assert set(residues["prime"]) == set(residues["composite"]) == {1, 19}


def test_the_same_stream_gives_the_same_instance_and_another_call_another():
    family = get_family("primality")
    parameters = family.complete({})
    slot = family.slots(parameters, 1)[0]
    streams = [Stream("x", 1), Stream("x", 1), Stream("x", 2)]
    first, same, other = (family.generate(slot, parameters, stream) for stream in streams)
    assert first == same
    assert first != other
    assert family.generate(slot, parameters, streams[0]) != first


def test_different_seeds_share_no_more_than_chance():
    _, one = draw("primality", 300, seed="one", digits=9)
    _, two = draw("primality", 300, seed="two", digits=9)
    shared = {i.params["n"] for i in one} & {i.params["n"] for i in two}
    # Some 40 million numbers stand to choose from: one shared number is a rare accident.
    assert len(shared) <= 1


@pytest.mark.parametrize("digits", [3, 4, 5])
def test_small_ranges_can_be_used_up_to_their_limit(digits):
    family = get_family("primality")
    parameters = family.complete({"digits": str(digits)})
    per_class = 65 if digits == 3 else 300
    family.slots(parameters, per_class)
    _, instances = draw("primality", per_class, digits=digits)
    assert len({i.params["n"] for i in instances}) == 2 * per_class


@pytest.mark.parametrize(("digits", "kind"), [(6, "prime"), (6, "small_factor"), (6, "semiprime")])
def test_room_is_a_lower_bound_that_is_not_far_off(digits, kind):
    from sealbench.tasks.primality_draws import _counted_room, room

    parameters = get_family("primality").complete({})
    counted = _counted_room(kind, digits, 30, 7, 47)
    assert 0.3 * counted < room(kind, digits, parameters) <= counted


def test_a_sketch_is_the_instance_without_its_chain():
    family = get_family("primality")
    parameters = family.complete({"digits": "12"})
    for index, slot in enumerate(family.slots(parameters, 3)):
        whole = family.generate(slot, parameters, Stream("x", index))
        sketch = family.sketch(slot, parameters, Stream("x", index))
        assert sketch.params == whole.params
        assert sketch.certificate == ({} if slot.class_label == "prime" else whole.certificate)
