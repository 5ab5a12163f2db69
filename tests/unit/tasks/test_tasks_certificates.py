"""Every certificate holds, and fails when changed anywhere, in class or in problem."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tasks_helpers import alterations, draw

from sealbench.crypto.canonical import decode, encode
from sealbench.errors import CertificateFailed
from sealbench.tasks.base import get_family
from sealbench.tasks.certificates import is_asserted

CASES = [
    ("primality", {}),
    ("primality", {"digits": "3..5"}),
    ("primality", {"digits": "6,16,22", "composite": "small_factor,semiprime,carmichael"}),
    ("primality", {"digits": "12", "sampling": "natural"}),
    ("subset_sum", {}),
    ("subset_sum", {"length": "6", "values": "1..60"}),
    ("subset_sum", {"values": "100000000..999999999"}),
    ("subset_sum", {"k": "3", "length": "12"}),
    ("subset_sum", {"k": "4", "length": "10"}),
    ("subset_sum", {"k": "5", "length": "10"}),
    ("satisfiability", {}),
    ("satisfiability", {"variables": "4"}),
    ("digit_sum_parity", {}),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_certificates_hold_and_no_changed_one_does(name, parameters):
    family, instances = draw(name, per_class=2, **parameters)
    for instance in instances:
        family.check(instance.params, instance.class_label, instance.certificate)
        # What is sealed is the canonical form.
        assert decode(encode(instance.certificate)) == instance.certificate
        assert decode(encode(instance.params)) == instance.params
        count = 0
        for altered in alterations(instance.certificate):
            count += 1
            with pytest.raises(CertificateFailed):
                family.check(instance.params, instance.class_label, altered)
        assert count > 5


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_certificates_show_no_other_class(name, parameters):
    family, instances = draw(name, per_class=2, **parameters)
    for instance in instances:
        for label in (*family.classes, "nonsense", ""):
            if label != instance.class_label:
                with pytest.raises(CertificateFailed):
                    family.check(instance.params, label, instance.certificate)


@pytest.mark.parametrize(("name", "parameters"), CASES[:2] + CASES[4:5] + CASES[-1:])
def test_certificates_of_one_problem_do_not_serve_another(name, parameters):
    family, instances = draw(name, per_class=3, **parameters)
    for one in instances:
        for other in instances:
            if one is not other and one.class_label == other.class_label:
                if one.certificate == other.certificate:
                    continue
                with pytest.raises(CertificateFailed):
                    family.check(one.params, one.class_label, other.certificate)


@pytest.mark.parametrize("n", [0, 1, 2, 4, -7, 2.0, True, None, "7", "007", "", [], 2**53, "9" * 500])
def test_numbers_that_are_no_problem(n):
    family = get_family("primality")
    prime, composite = {"type": "pratt", "chain": []}, {"type": "factor", "factor": 1, "cofactor": 4}
    for label, certificate in (("prime", prime), ("composite", composite)):
        with pytest.raises(CertificateFailed):
            family.check({"n": n}, label, certificate)


def test_the_smallest_numbers_have_certificates():
    family = get_family("primality")
    link = {"prime": 2, "root": 1, "factors": []}
    family.check({"n": 2}, "prime", {"type": "pratt", "chain": [link]})
    family.check({"n": 4}, "composite", {"type": "factor", "factor": 2, "cofactor": 2})


def test_a_chain_must_prove_its_large_factors():
    family = get_family("primality")
    # 131267 = 2 * 65633 + 1 is prime, and 65633 is a prime above the trial bound.
    prime, large = 131267, 65633
    assert prime == 2 * large + 1
    chain = [
        {"prime": prime, "root": 2, "factors": [[2, 1], [large, 1]]},
        {"prime": large, "root": 3, "factors": [[2, 5], [7, 1], [293, 1]]},
    ]
    family.check({"n": prime}, "prime", {"type": "pratt", "chain": chain})
    with pytest.raises(CertificateFailed, match="does not show"):
        family.check({"n": prime}, "prime", {"type": "pratt", "chain": chain[:1]})


def test_a_composite_cannot_pass_as_a_factor():
    family = get_family("primality")
    # 31 - 1 = 30 written with the composite 15 as a factor.
    link = {"prime": 31, "root": 3, "factors": [[2, 1], [15, 1]]}
    with pytest.raises(CertificateFailed, match="15"):
        family.check({"n": 31}, "prime", {"type": "pratt", "chain": [link]})


def test_hostile_sizes_are_refused_quickly():
    family = get_family("primality")
    link = {"prime": 7, "root": 3, "factors": [[2, 2**53 - 1]]}
    with pytest.raises(CertificateFailed):
        family.check({"n": 7}, "prime", {"type": "pratt", "chain": [link]})
    lists = get_family("subset_sum")
    numbers = list(range(1, 2000))
    with pytest.raises(CertificateFailed, match="more subsets"):
        lists.check({"numbers": numbers, "target": 5, "k": 5}, "no", {"type": "meet_in_the_middle"})
    with pytest.raises(CertificateFailed):
        lists.check({"numbers": [3], "target": 6, "k": 2}, "yes", {"type": "witness"})
    with pytest.raises(CertificateFailed, match="twice"):
        lists.check(
            {"numbers": [3, 3, 4, 5], "target": 6, "k": 2}, "no", {"type": "two_pointers", "moves": "uuu"}
        )


@settings(max_examples=150)
@given(numbers=st.lists(st.integers(1, 40), min_size=2, max_size=9, unique=True), target=st.integers(2, 80))
def test_a_sweep_is_accepted_exactly_where_no_pair_fits(numbers, target):
    from itertools import combinations, product

    family = get_family("subset_sum")
    fits = any(a + b == target for a, b in combinations(numbers, 2))
    params = {"numbers": numbers, "target": target, "k": 2}
    accepted = 0
    for moves in product("ud", repeat=len(numbers) - 1):
        try:
            family.check(params, "no", {"type": "two_pointers", "moves": "".join(moves)})
            accepted += 1
        except CertificateFailed:
            pass
    assert accepted == (0 if fits else 1)


@settings(max_examples=100)
@given(number=st.integers(2, 2_000), root=st.integers(1, 60))
def test_a_composite_never_gets_a_pratt_chain(number, root):
    import sympy

    factors = [[p, e] for p, e in sorted(sympy.factorint(number - 1).items())]
    certificate = {"type": "pratt", "chain": [{"prime": number, "root": root, "factors": factors}]}
    is_least = sympy.isprime(number) and (1 if number == 2 else sympy.primitive_root(number)) == root
    if is_least:
        get_family("primality").check({"n": number}, "prime", certificate)
    else:
        with pytest.raises(CertificateFailed):
            get_family("primality").check({"n": number}, "prime", certificate)


def test_asserted_certificates_are_known():
    assert is_asserted({"type": "asserted", "by": "author"})
    assert not is_asserted({"type": "pratt", "chain": []})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters", "per_class"),
    [
        ("primality", {"digits": "12", "composite": "small_factor,semiprime"}, 10_000),
        ("subset_sum", {"length": "40", "values": "100..999"}, 20_000),
        ("digit_sum_parity", {}, 10_000),
    ],
)
def test_a_hundred_thousand_certificates(name, parameters, per_class):
    family, instances = draw(name, per_class, **parameters)
    for number, instance in enumerate(instances):
        family.check(instance.params, instance.class_label, instance.certificate)
        if number % 500 == 0:
            for altered in alterations(instance.certificate):
                with pytest.raises(CertificateFailed):
                    family.check(instance.params, instance.class_label, altered)
