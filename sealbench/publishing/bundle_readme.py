"""README.md of a retired battery: for people, with a Hugging Face dataset card as its front matter.

Source of the front matter: the metadata of Hugging Face dataset cards. Of the names there, a battery
fits `question-answering`; the data set is the one file `items.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sealbench.formats.battery import Commitment
from sealbench.publishing.bundle_metadata import LICENSES, Imprint
from sealbench.publishing.sealing import parent_of

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_TEXT = """\
# Battery {name}, retired

{items} items of {instances} problems ({families}), sealed before any model was run and now
published in full.{derived}

## Check it

    sha256sum --quiet -c SHA256SUMS
    python3 PATH/verify.py{network} .
    seal verify{network} .

The first command finds damage, nothing else: whoever forges a file forges its hash too. For the
second take `verify.py` from a release of sealbench, never from this folder; it needs only Python.
The third needs `pip install sealbench`, and also draws every item again from the key.
The release's verify.py has the SHA-256 `{verifier}`.{time}

The signature of the commitment alone, with OpenSSH:

    ssh-keygen -Y verify -f record/commitments/allowed_signers -I {author} -n sealbench \\
      -s record/commitments/{name}.json.sig < record/commitments/{name}.json

## What is here

| file | what |
|---|---|
| battery.json | every item: prompt, answer, class, certificate of its ground truth |
| items.jsonl | the same, one item a line, for people who load data sets |
| key.json | the secret K, from which every item can be made again |
| responses/ | the raw responses of each run, redacted on receipt |
| record/ | what the battery rests on: registry, commitment, plans, runs, signatures, timestamps |
| verify.py | the stand-alone verifier, for reading |
| croissant.json, CITATION.cff, LICENSE | metadata, how to cite it, the licence of the data |
| CANARY.txt | the canary string that every line of items.jsonl holds |
| SHA256SUMS | the hashes of all these files |
{withheld}
The commitment has the SHA-256 `{digest}` and the root `{root}`.

## Do not train on it, do not use it again

The items are public now: whoever trains on public text may have seen them. A new evaluation needs a
new battery. Every line of items.jsonl holds this canary, so that training corpora can leave it out:

    {canary}
"""


def readme(
    commitment: Commitment,
    imprint: Imprint,
    *,
    canary: str,
    network: str,
    verifier_sha256: str,
    withheld: Mapping[str, int],
) -> str:
    """The whole file.

    Parameters
    ----------
    network : the Bitcoin network that the registry declares.
    verifier_sha256 : of the release's verify.py, a copy of which is in the bundle.
    withheld : how many bodies of each run are not published; runs without any left out.
    """
    parent = parent_of(commitment)
    derived = f" They are items of battery {parent}, which is published with it." if parent else ""
    time = "" if network == "mainnet" else f"\nTimestamps on {network} prove nothing about time."
    told = "".join(
        f"\nOf the responses of run {run}, {withheld[run]} withheld.\n" for run in sorted(withheld)
    )
    families = ", ".join(family.family for family in commitment.parameters.families)
    return _front_matter(commitment, imprint) + _TEXT.format(
        name=commitment.name,
        items=commitment.items,
        instances=commitment.instances,
        families=families,
        derived=derived,
        network="" if network == "mainnet" else f" --network {network}",
        verifier=verifier_sha256,
        time=time,
        author=commitment.author,
        withheld=told,
        digest=commitment.digest(),
        root=commitment.root,
        canary=canary,
    )


def _front_matter(commitment: Commitment, imprint: Imprint) -> str:
    """The dataset card's metadata in YAML; names are plain words, so nothing needs quoting."""
    size = next((word for limit, word in _SIZES if commitment.items < limit), "1M<n<10M")
    if imprint.license in LICENSES:
        licence = [f"license: {LICENSES[imprint.license][0]}"]
    else:
        licence = ["license: other", f"license_name: {imprint.license}", "license_link: LICENSE"]
    lines = [
        "---",
        *licence,
        f"pretty_name: Sealed battery {commitment.name}",
        "task_categories:",
        "  - question-answering",
        "size_categories:",
        f"  - {size}",
        "configs:",
        "  - config_name: default",
        "    data_files:",
        "      - split: test",
        "        path: items.jsonl",
        "---",
        "",
        "",
    ]
    return "\n".join(lines)
