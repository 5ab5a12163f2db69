"""The parts of verify.py against the package's, over inputs made for each: certificates, proofs, counts."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction

import pytest
from tasks_helpers import alterations, draw

from sealbench.crypto.canonical import decode, encode
from sealbench.errors import CertificateFailed, SealError
from sealbench.standalone import verify
from sealbench.timestamps import proof as package_proof
from sealbench.timestamps.networks import NETWORKS
from sealbench.timestamps.targets import compact_bits, expand_bits

FAMILIES = [
    ("primality", {}),
    ("primality", {"digits": "3..5"}),
    ("primality", {"digits": "6,16,22", "composite": "small_factor,semiprime,carmichael"}),
    ("subset_sum", {}),
    ("subset_sum", {"k": "3", "length": "12"}),
    ("subset_sum", {"k": "4", "length": "10"}),
    ("subset_sum", {"k": "5", "length": "10"}),
    ("satisfiability", {"variables": "4"}),
    ("digit_sum_parity", {}),
]


def stands(family: str, params: object, label: str, certificate: object) -> bool:
    """Whether verify.py accepts a certificate, as it stands in a file."""
    try:
        verify.FAMILIES[family](params, label, certificate)
    except verify.Wrong:
        return False
    return True


@pytest.mark.parametrize(("name", "parameters"), FAMILIES)
def test_certificates_hold_and_no_changed_one_does(name: str, parameters: dict[str, str]) -> None:
    family, instances = draw(name, per_class=1, **parameters)
    for one in instances:
        assert stands(name, one.params, one.class_label, one.certificate)
        for altered in alterations(one.certificate):
            assert not stands(name, one.params, one.class_label, altered), altered
        for label in {*family.classes, ""} - {one.class_label}:
            assert not stands(name, one.params, label, one.certificate)


@pytest.mark.parametrize(("name", "parameters"), FAMILIES)
def test_changed_problems_are_judged_as_by_the_package(name: str, parameters: dict[str, str]) -> None:
    family, instances = draw(name, per_class=1, **parameters)
    for one in instances:
        for params in alterations(one.params):
            try:
                decode(encode(params))
            except (SealError, TypeError, ValueError):
                continue  # no file can hold it
            try:
                family.check(params, one.class_label, one.certificate)
                package = True
            except CertificateFailed:
                package = False
            assert stands(name, params, one.class_label, one.certificate) == package, params


def test_an_instance_is_one_problem_and_families_are_known() -> None:
    _, (one, *_) = draw("digit_sum_parity", per_class=1)
    item = {
        "id": "0" * 16,
        "instance": "1" * 16,
        "family": "digit_sum_parity",
        "params": one.params,
        "class_label": one.class_label,
        "certificate": one.certificate,
    }
    families = [{"family": "digit_sum_parity", "version": 1}]
    assert "1 instances hold" in verify.certify([item, {**item, "id": "2" * 16}], families)
    with pytest.raises(verify.Wrong, match="two problems"):
        verify.certify([item, {**item, "params": {"digits": "1"}}], families)
    for changed in ({"family": "plugin", "version": 1}, {"family": "digit_sum_parity", "version": 2}):
        with pytest.raises(verify.Wrong, match="no family or version") as raised:
            verify.certify([{**item, "family": changed["family"]}], [changed])
        assert raised.value.status == "not_checked"


def test_the_cipher_gives_the_published_bytes() -> None:
    """RFC 8439, appendix A.1 test vector 1 and A.2 vector 1: a key of zeros, a nonce of zeros."""
    first = verify.chacha20(bytes(32), 2)
    assert first[:32].hex() == "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    assert first[64:96].hex() == "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 63, 64, 65, 1000])
def test_the_cipher_opens_what_the_package_seals_and_nothing_else(size: int) -> None:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    rng = random.Random(size)
    key, text, associated = rng.randbytes(32), rng.randbytes(size), rng.randbytes(size // 3)
    sealed = ChaCha20Poly1305(key).encrypt(bytes(12), text, associated)
    assert verify.decrypt(key, sealed, associated) == text
    for at in {0, len(sealed) // 2, len(sealed) - 1}:
        changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        with pytest.raises(verify.Wrong):
            verify.decrypt(key, changed, associated)


def test_proofs_are_read_as_by_the_package(complete) -> None:  # type: ignore[no-untyped-def]
    rng = random.Random(20261130)
    proofs = [path.read_bytes() for path in sorted((complete / "commitments").rglob("*.ots"))]
    agreed = {True: 0, False: 0}
    for _ in range(1500):
        data = bytearray(rng.choice(proofs))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(31, len(data))
            data[at : at + rng.randrange(2)] = rng.choice([b"", b"\x00", b"\xff", b"\x08", rng.randbytes(1)])
        own, package = by_standalone(bytes(data)), by_package(bytes(data))
        assert own == package, bytes(data).hex()
        agreed[own is None] += 1
    assert min(agreed.values()) > 200


def by_standalone(data: bytes) -> tuple[object, ...] | None:
    try:
        found = verify.Proof(data)
    except verify.Wrong:
        return None
    blocks = sorted((value, message) for kind, value, message in found.found if kind == "bitcoin")
    return found.one_form, found.plain, found.digest, blocks if found.plain else []


def by_package(data: bytes) -> tuple[object, ...] | None:
    try:
        found = package_proof.read_proof(data)
    except SealError:
        return None
    plain = package_proof.uses_only_sha256(found)
    blocks = sorted(
        (one.height, one.message) for one in package_proof.attestations(found) if one.kind == "bitcoin"
    )
    one_form = package_proof.serialize(found) == data
    return one_form, plain, package_proof.digest_of(found)[1], blocks if plain else []


def test_targets_are_spelt_as_by_the_package() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        bits = rng.choice([rng.getrandbits(32), rng.randrange(0, 0x22) << 24 | rng.getrandbits(23)])
        package = expand_bits(bits)
        assert verify.expand(bits) == package
        if package:
            assert verify.compact(package) == compact_bits(package)


def test_genesis_blocks_have_their_published_hashes() -> None:
    for name in ("mainnet", "regtest"):
        assert verify.sha256d(verify.Chain(name, {}).genesis) == NETWORKS[name].genesis.hash


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_exact_p_is_the_share_of_labellings(alternative: str) -> None:
    """Against counting every labelling one by one."""
    rng = random.Random(2)
    for _ in range(60):
        strata = [
            [[rng.randrange(5) for _ in range(rng.randint(1, 3))] for _ in range(2)]
            for _ in range(rng.randint(1, 3))
        ]
        choices = [itertools.combinations(range(len(one + zero)), len(one)) for one, zero in strata]
        sums = [
            sum(
                (one + zero)[at]
                for (one, zero), chosen in zip(strata, labelling, strict=True)
                for at in chosen
            )
            for labelling in itertools.product(*(list(one) for one in choices))
        ]
        mean, observed = Fraction(sum(sums), len(sums)), sum(sum(one) for one, _ in strata)
        far = {
            "greater": lambda total, _: total,
            "less": lambda total, _: -total,
            "two-sided": lambda total, middle: abs(total - middle),
        }[alternative]
        hits = sum(far(total, mean) >= far(observed, mean) for total in sums)
        assert verify.exact_p(strata, alternative) == Fraction(hits, len(sums))


def test_exact_p_gives_up_instead_of_taking_hours() -> None:
    rng = random.Random(3)
    values = [[rng.randrange(10**9) for _ in range(40)] for _ in range(2)]
    assert verify.exact_p([values], "greater") is None


def test_a_p_of_absurd_size_is_refused_in_no_time(complete) -> None:  # type: ignore[no-untyped-def]
    folder = complete / "runs" / "primes-plan-1"
    report = json.loads((folder / "report.json").read_bytes())
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_bytes().splitlines()]
    stated = next(one for one in report["tests"] if one["p"] and verify.recount(one, lines))
    for text in ("1e999999999", "9" * 100_000, "", "-1", "0.5", "one"):
        with pytest.raises(verify.Wrong, match="its p is"):
            verify.recount({**stated, "p": {**stated["p"], "num": text}}, lines)


def test_a_comparison_with_other_counts_or_another_p_is_refused(complete) -> None:  # type: ignore[no-untyped-def]
    folder = complete / "runs" / "primes-plan-1"
    report = json.loads((folder / "report.json").read_bytes())
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_bytes().splitlines()]
    exact = [one for one in report["tests"] if one["p"] and "num" in one["p"]]
    assert exact
    for stated in report["tests"]:
        verify.recount(stated, lines)
        for label, field in itertools.product((stated["class1"], stated["class0"]), verify.COUNTED):
            counts = {**stated["classes"][label], field: stated["classes"][label][field] + 1}
            with pytest.raises(verify.Wrong, match="other counts"):
                verify.recount({**stated, "classes": {**stated["classes"], label: counts}}, lines)
    recomputed = 0
    for stated in exact:
        p = {**stated["p"], "num": str(int(stated["p"]["num"]) + 1), "den": str(int(stated["p"]["den"]) + 2)}
        if verify.recount(stated, lines):
            recomputed += 1
            with pytest.raises(verify.Wrong, match="its p is"):
                verify.recount({**stated, "p": p}, lines)
    assert recomputed


def test_help_names_every_exit_code() -> None:
    shown = subprocess.run(
        [sys.executable, "-I", "-S", verify.__file__, "--help"], capture_output=True, text=True, check=True
    )
    assert "0 verified, 1 false, 2 usage, 3 not yet, 4 could not check, 70 a bug" in " ".join(
        shown.stdout.split()
    )
