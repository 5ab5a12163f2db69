"""LICENSE, CITATION.cff, Croissant and the dataset card say what the commitment says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sealbench.errors import UsageError
from sealbench.formats.battery import Commitment
from sealbench.publishing.bundle_metadata import (
    LICENSES,
    Imprint,
    check_license,
    citation,
    croissant,
    license_text,
)
from sealbench.publishing.bundle_readme import readme

COMMITMENT = Commitment.from_bytes(
    (Path(__file__).parents[2] / "vectors" / "workspace" / "commitments" / "mixed.json").read_bytes()
)
IMPRINT = Imprint(authors=('Ada "Countess" Lovelace',), license="CC-BY-4.0", date="2026-11-30")


@pytest.mark.parametrize("identifier", [*LICENSES, "LicenseRef-own.terms-1"])
def test_known_licences(identifier: str) -> None:
    check_license(identifier)
    text = license_text(Imprint((), identifier, "2026-11-30"))
    assert text.startswith(f"SPDX-License-Identifier: {identifier}\n")


@pytest.mark.parametrize(
    "identifier", ["", "CC-BY-4", "cc-by-4.0", "LicenseRef-", "MIT\nlicense: x", "a" * 99]
)
def test_other_licences_are_refused_with_the_list(identifier: str) -> None:
    with pytest.raises(UsageError, match="no licence this command knows") as refused:
        check_license(identifier)
    assert "CC0-1.0" in refused.value.hint


def test_citation() -> None:
    text = citation(COMMITMENT, IMPRINT)
    assert "cff-version: 1.2.0\n" in text
    assert '  - name: "Ada \\"Countess\\" Lovelace"\n' in text
    assert "license: CC-BY-4.0\n" in text
    assert f'value: "sha256:{COMMITMENT.digest()}"' in text
    own = citation(COMMITMENT, Imprint((), "LicenseRef-own", "2026-11-30"))
    assert "license:" not in own  # the format takes SPDX's own list only
    assert f'  - name: "holder of the signing key {COMMITMENT.author}"\n' in own


def test_croissant_names_the_file_with_its_hash() -> None:
    value = json.loads(croissant(COMMITMENT, IMPRINT, "sealbench canary x", "ab" * 32, 17))
    assert value["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    (file,) = value["distribution"]
    assert (file["contentUrl"], file["sha256"], file["contentSize"]) == ("items.jsonl", "ab" * 32, "17 B")
    assert value["description"].endswith("sealbench canary x")
    fields = {field["name"] for field in value["recordSet"][0]["field"]}
    assert {"id", "prompt", "answer", "class_label", "canary"} <= fields


def page(imprint: Imprint = IMPRINT, network: str = "mainnet", withheld: dict[str, int] | None = None) -> str:
    return readme(
        COMMITMENT,
        imprint,
        canary="sealbench canary x",
        network=network,
        verifier_sha256="cd" * 32,
        withheld=withheld or {},
    )


def test_readme() -> None:
    text = page()
    assert text.startswith("---\nlicense: cc-by-4.0\npretty_name: Sealed battery mixed\n")
    assert "  - n<1K\n" in text
    assert "path: items.jsonl\n---\n" in text
    for part in ("sha256sum --quiet -c SHA256SUMS", "verify.py .", "seal verify .", "cd" * 32, "canary x"):
        assert part in text
    assert "proves" not in text
    assert "withheld" not in text


def test_readme_of_a_practice_network_withheld_responses_and_an_own_licence() -> None:
    text = page(Imprint((), "LicenseRef-own", "2026-11-30"), "regtest", {"mixed-plan-1": 2})
    assert "license: other\nlicense_name: LicenseRef-own\nlicense_link: LICENSE\n" in text
    assert "seal verify --network regtest ." in text
    assert "prove nothing about time" in text
    assert "Of the responses of run mixed-plan-1, 2 withheld." in text
