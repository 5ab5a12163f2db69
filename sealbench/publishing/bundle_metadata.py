"""Who published a battery, when, under what licence: Croissant, CITATION.cff, LICENSE.

Sources: MLCommons Croissant format 1.0; Citation File Format 1.2.0; SPDX licence list; the licence names
of Hugging Face dataset cards.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from sealbench.errors import UsageError
from sealbench.formats.battery import Commitment

DEFAULT_LICENSE = "CC-BY-4.0"
# SPDX identifier → (name in a dataset card, address of the text).
LICENSES: dict[str, tuple[str, str]] = {
    "CC-BY-4.0": ("cc-by-4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "CC0-1.0": ("cc0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "CC-BY-SA-4.0": ("cc-by-sa-4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    "CC-BY-NC-4.0": ("cc-by-nc-4.0", "https://creativecommons.org/licenses/by-nc/4.0/"),
    "CC-BY-NC-SA-4.0": ("cc-by-nc-sa-4.0", "https://creativecommons.org/licenses/by-nc-sa/4.0/"),
    "ODC-By-1.0": ("odc-by", "https://opendatacommons.org/licenses/by/1-0/"),
    "ODbL-1.0": ("odbl", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "PDDL-1.0": ("pddl", "https://opendatacommons.org/licenses/pddl/1-0/"),
    "Apache-2.0": ("apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    "MIT": ("mit", "https://opensource.org/license/mit"),
}
_OWN_LICENSE = re.compile(r"LicenseRef-[A-Za-z0-9.-]{1,60}")
_TEXT_FIELDS = {
    "id": "Item id: 16 hex digits that follow from K.",
    "instance": "The problem; its wordings share it.",
    "family": "Task family.",
    "class_label": "The class that the ground truth belongs to.",
    "kind": "Kind of instance within the class.",
    "stratum": "What every test conditions on.",
    "search": "Whether this answer needs the whole search or one find.",
    "wording": "Wording of the question.",
    "category": "Group of the item.",
    "prompt": "The question.",
    "answer": "The right answer.",
    "answer_type": "How an answer is read.",
    "minimal_answer": "The shortest reply that is right.",
    "canary": "Canary string; not part of the item.",
}


@dataclass(frozen=True)
class Imprint:
    """What a bundle says of its publication.

    Attributes
    ----------
    authors : names to cite; without any, the signing key stands for them.
    license : SPDX identifier of the data's licence.
    date : day of publication, `2026-11-30`.
    """

    authors: tuple[str, ...]
    license: str
    date: str


def check_license(identifier: str) -> None:
    """UsageError unless the identifier is one of LICENSES or a `LicenseRef-…` of the author's own."""
    if identifier not in LICENSES and not _OWN_LICENSE.fullmatch(identifier):
        known = ", ".join(LICENSES)
        raise UsageError(
            f"{identifier!r:.80} is no licence this command knows",
            hint=f"--license with one of {known}, or LicenseRef-NAME for a licence of your own",
        )


def license_address(identifier: str) -> str | None:
    """Where the licence's text stands; None for an author's own."""
    return LICENSES[identifier][1] if identifier in LICENSES else None


def license_text(imprint: Imprint) -> str:
    """LICENSE: the identifier and where to read it. The text itself stays where it is kept."""
    address = license_address(imprint.license)
    where = f"Its text: {address}" if address else "Its text is to be had from the author."
    return (
        f"SPDX-License-Identifier: {imprint.license}\n\n"
        f"The files of this folder are published under the licence {imprint.license}.\n{where}\n\n"
        "Two kinds of file are not the author's own work: verify.py, which is part of sealbench\n"
        "(Apache-2.0), and the bodies in responses/, to which the terms of the providers that sent them\n"
        "may apply.\n"
    )


def citation(commitment: Commitment, imprint: Imprint) -> str:
    """CITATION.cff. Every value is a JSON string, which YAML reads as the same string."""
    authors = imprint.authors or (f"holder of the signing key {commitment.author}",)
    lines = [
        "cff-version: 1.2.0",
        f"message: {_quoted('If you use this battery, cite it with the hash of its commitment.')}",
        "type: dataset",
        f"title: {_quoted(f'Sealed evaluation battery {commitment.name}')}",
        "authors:",
        *(f"  - name: {_quoted(author)}" for author in authors),
        f"date-released: {imprint.date}",
        *([f"license: {imprint.license}"] if imprint.license in LICENSES else []),
        "identifiers:",
        "  - type: other",
        f"    value: {_quoted(f'sha256:{commitment.digest()}')}",
        f"    description: {_quoted(f'SHA-256 of commitments/{commitment.name}.json')}",
    ]
    return "\n".join(lines) + "\n"


def croissant(commitment: Commitment, imprint: Imprint, canary: str, items_sha256: str, size: int) -> str:
    """croissant.json: the data set `items.jsonl` and the texts in each line.

    Parameters
    ----------
    items_sha256 : SHA-256 (hex) of items.jsonl.
    size : bytes of items.jsonl.
    """
    authors = imprint.authors or (f"holder of the signing key {commitment.author}",)
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": commitment.name,
        "description": (
            f"{commitment.items} items of {commitment.instances} problems, sealed before any model was run, "
            f"now published with the key that makes them again. {canary}"
        ),
        "version": "1.0.0",
        "datePublished": imprint.date,
        "license": license_address(imprint.license) or imprint.license,
        "creator": [{"@type": "sc:Organization", "name": author} for author in authors],
        "citeAs": f"{', '.join(authors)}: sealed battery {commitment.name}, sha256:{commitment.digest()}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "items.jsonl",
                "name": "items.jsonl",
                "contentUrl": "items.jsonl",
                "contentSize": f"{size} B",
                "encodingFormat": "application/jsonlines",
                "sha256": items_sha256,
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "items",
                "name": "items",
                "key": {"@id": "items/id"},
                "field": [_field(name, text) for name, text in _TEXT_FIELDS.items()],
            }
        ],
    }
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


def _field(name: str, description: str) -> dict[str, object]:
    return {
        "@type": "cr:Field",
        "@id": f"items/{name}",
        "name": name,
        "description": description,
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": "items.jsonl"}, "extract": {"column": name}},
    }


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


# The terms of Croissant 1.0, which its specification asks every file to repeat.
_CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        term: f"cr:{term}"
        for term in (
            *(
                "citeAs",
                "column",
                "equivalentProperty",
                "extract",
                "field",
                "fileObject",
                "fileProperty",
                "fileSet",
                "format",
            ),
            *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *(
                "references",
                "regex",
                "repeated",
                "replace",
                "samplingRate",
                "separator",
                "source",
                "subField",
                "transform",
            ),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
