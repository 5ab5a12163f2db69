"""What subset-sum draws: both classes by brute force, witness places, matched near misses."""

from collections import Counter
from itertools import combinations

import pytest
from tasks_helpers import draw

from sealbench.stats import fisher_exact
from sealbench.tasks.base import get_family
from sealbench.tasks.subset_sum_draws import count_near, positions_of

SHAPES = [
    {},
    {"length": 40, "values": "100..999"},
    {"length": 4, "values": "1..30"},
    {"length": "10,20", "witness": "3..9"},
    {"witness": "100..120"},
    {"k": 3},
    {"k": 3, "length": 6, "values": "1..100"},
    {"k": 4, "length": 12},
    {"k": 5, "length": 11},
]


def _sums(params):
    numbers = params["numbers"]
    return [sum(numbers[i] for i in subset) for subset in combinations(range(len(numbers)), params["k"])]


@pytest.mark.parametrize("given", SHAPES)
def test_classes_hold_by_brute_force(given):
    family, instances = draw("subset_sum", 5, **given)
    parameters = family.complete({key: str(value) for key, value in given.items()})
    first, last = parameters["witness"]
    low, high = parameters["values"]
    for instance in instances:
        sums = _sums(instance.params)
        target = instance.params["target"]
        numbers = instance.params["numbers"]
        assert len(set(numbers)) == len(numbers)
        assert instance.stratum == f"length_{len(numbers)}"
        assert low <= min(numbers) and max(numbers) <= high
        if instance.class_label == "yes":
            assert instance.search == "witness"
            assert first <= sums.index(target) + 1 <= last
            assert instance.certificate["index"] == sums.index(target) + 1
        else:
            assert instance.search == "exhaustive"
            assert target not in sums


def test_defaults():
    parameters = get_family("subset_sum").complete({})
    assert parameters["k"] == 2
    assert parameters["length"] == [16]
    assert parameters["values"] == [100, 499]
    assert parameters["witness"] == [1, 30]


def test_counting_near_misses_by_two_ways():
    _, instances = draw("subset_sum", 30)
    for instance in instances:
        target, numbers = instance.params["target"], instance.params["numbers"]
        for near in (1, 5, 40):
            expected = sum(0 < abs(total - target) <= near for total in _sums(instance.params))
            assert count_near(numbers, target, 2, near) == expected
    assert count_near([1, 2, 3], 6, 3, 1) == 0
    assert count_near([1, 2, 3], 7, 3, 1) == 1


def test_near_misses_are_matched_between_classes():
    family, instances = draw("subset_sum", 800)
    near = family.complete({})["near"]
    counts = {"yes": Counter(), "no": Counter()}
    for instance in instances:
        found = count_near(instance.params["numbers"], instance.params["target"], 2, near)
        counts[instance.class_label][found] += 1
    assert len(counts["yes"]) > 3
    for limit in range(1, 6):
        many = [sum(n for found, n in counts[label].items() if found >= limit) for label in ("yes", "no")]
        assert fisher_exact([[many[0], 800], [many[1], 800]]).p > 0.001


def test_witness_places_cover_their_range():
    _, instances = draw("subset_sum", 600)
    places = Counter(i.certificate["index"] for i in instances if i.class_label == "yes")
    assert set(places) == set(range(1, 31))
    assert max(places.values()) < 60


def test_positions_are_in_lexicographic_order():
    assert [positions_of(i, 4, 2) for i in (1, 2, 4, 6)] == [(0, 1), (0, 2), (1, 2), (2, 3)]
    with pytest.raises(ValueError, match="beyond"):
        positions_of(7, 4, 2)


def test_large_values_stay_canonical():
    _, instances = draw("subset_sum", 3, values="900000000000..999999999999")
    assert all(isinstance(number, int) for i in instances for number in i.params["numbers"])
