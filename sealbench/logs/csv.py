"""CSV files with a header line; which column is what is told by flags, or taken by usual names and said."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.columns import choose_columns, row_of

_LONGEST_FIELD = 1 << 28


class Csv:
    """The reader."""

    name = "csv"

    def detect(self, path: Path, head: bytes) -> bool:
        """By its name, or a first line with several fields."""
        if path.suffix.lower() in (".csv", ".tsv"):
            return True
        first = head.partition(b"\n")[0]
        return path.suffix == "" and first.count(b",") >= 2 and not first.lstrip().startswith((b"{", b"["))

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Nothing belongs to a CSV file."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per line."""
        csv.field_size_limit(min(_LONGEST_FIELD, sys.maxsize))
        try:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
                reader = csv.DictReader(stream, strict=True, delimiter=delimiter)
                columns = choose_columns(list(reader.fieldnames or ()), options, path, notes)
                for place, record in enumerate(reader):
                    if None in record or None in record.values():
                        raise FormatError(
                            f"{path.name} line {reader.line_num}: not as many fields as the header has",
                            hint="complete the line; a file cut off while it was written ends like this",
                        )
                    yield row_of(record, columns, place, path)
        except OSError as error:
            raise FormatError(f"{path}: cannot be read ({error.strerror})") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise FormatError(
                f"{path}: not a CSV file in UTF-8 ({error})", hint="save it as CSV, UTF-8"
            ) from error


FORMAT = Csv()
