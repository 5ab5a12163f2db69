"""Other people's commitments: what they commit to, and the two recipes behind them. Read, never written.

    nlnl-items/v1   SHA-256 of the items as one JSON array: of each item the seven fields below, the
                    answer as text, the items sorted by id, keys sorted, no white space, UTF-8
    file-bytes/v1   SHA-256 of the file as it is

The layout is that of nlnl-commitments: a JSON object with `instrument`, and `battery_hash` (the first
recipe) or `file_hash` (the second). The expected hash comes from the commitment, which is what was
stamped, never from the file under test: a hash that a battery carries itself is not looked at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError

ITEMS = "nlnl-items/v1"
FILE_BYTES = "file-bytes/v1"
FIELDS = ("id", "family", "class_label", "prompt", "answer", "answer_type", "params")
_RECIPE_OF_FIELD = {"battery_hash": ITEMS, "file_hash": FILE_BYTES}
_HASH = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class ForeignCommitment:
    """What a foreign commitment says.

    `recipe` is empty if it names no hash that this program knows how to make again. `count` is the
    number of items it states, None if none; `source` the file it was made from, empty if not said.
    """

    name: str
    recipe: str
    sha256: str
    count: int | None
    source: str

    @property
    def sentence(self) -> str:
        """What it commits to, in words."""
        if not self.recipe:
            return f"commits to {self.name or 'something'} by no recipe that this program knows"
        items = f"{self.count} items, " if self.count is not None else ""
        return f"commits to {self.name}: {items}{self.recipe}, sha256 {self.sha256}"


@dataclass(frozen=True)
class Recomputed:
    """A candidate's hash under one recipe, and its number of items (None for plain bytes)."""

    recipe: str
    sha256: str
    count: int | None


def read_commitment(data: bytes, name: str) -> ForeignCommitment:
    """Read a foreign commitment; FormatError if it is not JSON, or names a hash that cannot be one."""
    value = _parse(data, name)
    if not isinstance(value, dict):
        raise FormatError(f"{name}: a commitment is a JSON object")
    fields = [field for field in _RECIPE_OF_FIELD if field in value]
    if len(fields) > 1:
        raise FormatError(f"{name}: names both {' and '.join(fields)}; which of them counts is not said")
    count = value.get("n_items", value.get("n_probes"))
    commitment = ForeignCommitment(
        name=_text(value.get("instrument")),
        recipe=_RECIPE_OF_FIELD[fields[0]] if fields else "",
        sha256=value[fields[0]] if fields else "",
        count=count if isinstance(count, int) and not isinstance(count, bool) else None,
        source=_text(value.get("source_file")),
    )
    if fields and not (isinstance(commitment.sha256, str) and _HASH.match(commitment.sha256)):
        raise FormatError(f"{name}: its {fields[0]} is not a SHA-256 in 64 lower-case hex digits")
    if value.get("hash_algorithm", "sha256") != "sha256":
        raise FormatError(f"{name}: its hash_algorithm is not sha256")
    return commitment


def _text(value: Any) -> str:
    """A short text that is safe to print; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else "?" for char in value[:120])


def recompute(recipe: str, data: bytes, name: str) -> Recomputed:
    """A candidate file's hash under a recipe.

    Raises
    ------
    FormatError : the file does not hold what the recipe needs; an unknown recipe likewise.
    """
    if recipe == FILE_BYTES:
        return Recomputed(recipe, sha256_hex(data), None)
    if recipe != ITEMS:
        raise FormatError(f"{name}: {recipe or 'no recipe'} is not a recipe this program knows")
    items = _items(_parse(data, name), name)
    try:
        kept = [{field: item[field] for field in FIELDS} | {"answer": str(item["answer"])} for item in items]
        kept.sort(key=lambda item: item["id"])
        text = json.dumps(kept, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        encoded = text.encode("utf-8")
    except KeyError as error:
        raise FormatError(f"{name}: an item lacks the field {error.args[0]}, which {ITEMS} needs") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{name}: not items for {ITEMS} ({type(error).__name__})") from error
    return Recomputed(recipe, sha256_hex(encoded), len(kept))


def _items(value: Any, name: str) -> list[dict[str, Any]]:
    items = value.get("items") if isinstance(value, dict) else value
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise FormatError(f"{name}: holds no array `items` of objects, which {ITEMS} needs")
    return items


def _parse(data: bytes, name: str) -> Any:
    """JSON that has one reading only. Floats are allowed: these files are other people's."""
    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:120]
        raise FormatError(f"{name}: not valid JSON ({type(error).__name__}: {reason})") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return result


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
