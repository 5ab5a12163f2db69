"""Imported items: both formats, inferred answer types, YapBench's shape, and clear errors."""

import pytest

from sealbench.errors import CertificateFailed, FormatError, UsageError
from sealbench.tasks.certificates import is_asserted
from sealbench.tasks.imported import check_imported, import_items, label_of, read_rows


def _import(text, name="items.csv"):
    return import_items(read_rows(text.encode(), name))


def test_csv_with_all_columns():
    (one, two) = _import(
        "id,prompt,answer,class_label,minimal_answer,category,kind,stratum,my_note\n"
        'q1,"Is 7 prime?\nThink.",Yes,Prime,Yes,maths,small,s1,x\n'
        "q2,Is 8 prime?,No,Not prime,No,maths,small,s1,\n"
    )
    assert one.id == "q1"
    assert one.instance.class_label == "prime"
    assert two.instance.class_label == "not_prime"
    assert (one.instance.kind, one.instance.stratum, one.instance.search) == ("small", "s1", "none")
    assert one.rendered.prompt == "Is 7 prime?\nThink."
    assert (one.rendered.answer, one.rendered.answer_type) == ("Yes", "yes_no")
    assert one.rendered.category == "maths"
    assert one.instance.params == {"id": "q1"}
    assert is_asserted(one.instance.certificate)
    check_imported(one.instance.params, one.instance.certificate)


def test_jsonl_and_a_byte_order_mark():
    items = _import(
        '\ufeff{"id": 3, "prompt": "2+2?", "answer": 4, "extra": [1]}\n\n{"prompt": "1+2?", "answer": "3"}\n',
        "items.jsonl",
    )
    assert [item.id for item in items] == ["3", "row_2"]
    assert {item.rendered.answer_type for item in items} == {"number"}
    assert items[0].instance.class_label == "all"


def test_yapbench_shape_imports_as_it_is():
    items = _import("prompt,baseline,category\nCapital of France?,Paris,A\nhi,Hello!,B\n")
    assert [item.rendered.answer_type for item in items] == ["ungraded", "ungraded"]
    assert [item.rendered.minimal_answer for item in items] == ["Paris", "Hello!"]
    assert [item.rendered.category for item in items] == ["A", "B"]
    assert items[0].rendered.answer == ""


@pytest.mark.parametrize(
    ("answers", "answer_type"),
    [
        (["Yes", "no"], "yes_no"),
        (["A", "C"], "letter:A,B,C"),
        (["12", "-3"], "number"),
        (["cat", "dog"], "label:cat,dog"),
        (["It is, mostly.", "Paris (France)"], "text"),
    ],
)
def test_inferred_answer_types(answers, answer_type):
    text = "prompt,answer\n" + "".join(f'p{i},"{answer}"\n' for i, answer in enumerate(answers))
    assert {item.rendered.answer_type for item in _import(text)} == {answer_type}


@pytest.mark.parametrize(
    ("text", "name", "error", "part"),
    [
        ("", "a.csv", UsageError, "no rows"),
        ("prompt\n", "a.csv", UsageError, "no rows"),
        ("question,answer\nx,y\n", "a.csv", UsageError, "no column 'prompt'"),
        ("prompt,answer\nx\n", "a.csv", FormatError, "row 1"),
        ('prompt\n"unclosed\n', "a.csv", FormatError, "line"),
        ("prompt\n \n", "a.csv", UsageError, "row 1 has no prompt"),
        ("id,prompt\n1,a\n1,b\n", "a.csv", UsageError, "same id"),
        ("prompt\na\na\n", "a.csv", UsageError, "same prompt"),
        ("prompt,answer,answer_type\na,maybe,yes_no\n", "a.csv", UsageError, "cannot be read back"),
        ("prompt,answer,answer_type\na,,yes_no\n", "a.csv", UsageError, "no answer"),
        ("prompt,answer,answer_type\na,b,ungraded\n", "a.csv", UsageError, "ungraded"),
        ("prompt,answer,answer_type\na,b,essay\n", "a.csv", UsageError, "no answer type"),
        ("prompt,class_label\na,???\n", "a.csv", UsageError, "class_label"),
        ("{bad\n", "a.jsonl", FormatError, "line 1"),
        ('{"prompt": "a"}\n[1]\n', "a.jsonl", FormatError, "line 2"),
        ('{"prompt": ["a"]}\n', "a.jsonl", FormatError, "'prompt' is not text"),
        ("prompt\na\n", "a.xlsx", UsageError, "neither CSV nor JSON"),
    ],
)
def test_bad_files_are_named_with_a_hint(text, name, error, part):
    with pytest.raises(error, match=part) as caught:
        _import(text, name)
    assert caught.value.hint or error is FormatError


def test_not_utf8():
    with pytest.raises(FormatError, match="UTF-8"):
        read_rows(b"prompt\n\xff\xfe", "a.csv")


def test_asserted_is_all_that_is_checked():
    for params, certificate in (
        ({"id": "1"}, {"type": "pratt", "chain": []}),
        ({"id": "1"}, {"type": "asserted", "by": "nobody"}),
        ({}, {"type": "asserted", "by": "author"}),
    ):
        with pytest.raises(CertificateFailed):
            check_imported(params, certificate)


def test_labels():
    assert label_of(" Not Prime! ") == "not_prime"
    assert label_of("???") == ""
