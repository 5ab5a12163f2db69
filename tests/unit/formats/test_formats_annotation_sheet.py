"""The annotation sheet goes out and comes back, whatever a spreadsheet does to it; errors name the line."""

from __future__ import annotations

import csv
import io

import pytest

from sealbench.errors import FormatError
from sealbench.formats.annotation_sheet import COLUMNS, TYPES, Annotation, SheetRow, read_sheet, write_sheet

HEAD = "run,line,type\n"


def row(line=3, **changes):
    fields = {
        "run": "r1",
        "line": line,
        "prompt": "Is 7 prime?",
        "minimal_answer": "Yes",
        "answer": "Yes, it is.",
    }
    return SheetRow.model_validate(fields | changes)


def test_a_sheet_comes_back_as_it_went_out():
    hostile = row(4, answer='=HYPERLINK("x")\nsecond; line, "quoted"', prompt="-1 + 2?")
    data = write_sheet([row(), hostile])
    cells = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert tuple(cells[0]) == COLUMNS
    assert cells[2][2].startswith("'-")
    assert cells[2][4] == "'" + hostile.answer
    assert read_sheet(data, "sheet.csv") == (
        Annotation(run="r1", line=3, type=None),
        Annotation(run="r1", line=4, type=None),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HEAD + "r1,3,enumeration\n", "enumeration"),
        (HEAD + "r1,3, Verbose Details \n", "verbose_details"),
        ("run;line;type\r\nr1;3;none\r\n", "none"),
        ('\ufefftype,note,line,run\nambiguity,"a; b",3,r1\n', "ambiguity"),
        (HEAD + "r1,3,\n", None),
    ],
)
def test_what_spreadsheets_and_people_make_of_it(text, kind):
    assert read_sheet(text.encode(), "sheet.csv") == (Annotation(run="r1", line=3, type=kind),)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no column run"),
        (b"run,line\nr1,3\n", "no column type"),
        (b"run,line,type\nr1,3,padding\n", "line 2: type is 'padding'"),
        (b"run,line,type\nr1,three,none\n", "line 2: line"),
        (b"run,line,type\nr1,-3,none\n", "line 2: line"),
        (b"run,line,type\nr1," + b"9" * 5000 + b",none\n", "line 2: line"),
        (b"run,line,type\nR 1,3,none\n", "line 2: run"),
        (b"run,line,type\nr1,3,none\nr1,3,none\n", "stands here twice"),
        (b"run,line,type\nr1,3\n", None),
        (b'run,line,type\nr1,"3,none\n', "not CSV"),
        (b"run,line,type\nr1,3,\xff\n", "not in UTF-8"),
    ],
)
def test_what_is_wrong_is_named(data, told):
    if told is None:  # a short row: nothing is written under type
        assert read_sheet(data, "sheet.csv") == (Annotation(run="r1", line=3, type=None),)
        return
    with pytest.raises(FormatError) as caught:
        read_sheet(data, "sheet.csv")
    assert "sheet.csv" in caught.value.message
    assert told in caught.value.message


def test_an_unknown_type_lists_the_known_ones():
    with pytest.raises(FormatError) as caught:
        read_sheet(b"run,line,type\nr1,3,padding\n", "sheet.csv")
    assert all(kind in caught.value.hint for kind in TYPES)


def test_long_answers_fit():
    data = write_sheet([row(answer="x" * 400_000)])
    assert len(read_sheet(data, "sheet.csv")) == 1
