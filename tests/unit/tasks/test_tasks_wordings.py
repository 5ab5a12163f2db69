"""Wordings: the right answer in each, read back by the parser, and the search left alone."""

import re

import pytest
from tasks_helpers import draw

from sealbench.crypto.stream import Stream
from sealbench.errors import UsageError
from sealbench.tasks.answers import choices_of, grade, parse
from sealbench.tasks.base import BUILT_IN_FAMILIES

FAMILIES = sorted(BUILT_IN_FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_answer_is_one_of_the_choices_and_can_be_read_back(name):
    family, instances = draw(name, 3)
    for number, instance in enumerate(instances):
        for wording in family.wordings:
            rendered = family.render(instance, wording, Stream("sealbench/v1/wording", number, wording))
            choices = choices_of(rendered.answer_type)
            assert rendered.answer in choices
            assert rendered.minimal_answer == rendered.answer
            assert rendered.category == name
            for choice in choices:
                assert f'"Answer: {choice}"' in rendered.prompt
                parsed = parse(f"Some work.\nAnswer: {choice}", rendered.answer_type)
                assert grade(parsed, rendered.answer) == ("right" if choice == rendered.answer else "wrong")


@pytest.mark.parametrize("name", FAMILIES)
def test_inverted_turns_the_answer_round_and_the_problem_stays(name):
    family, instances = draw(name, 2)
    for instance in instances:
        plain = family.render(instance, "plain", Stream("w"))
        inverted = family.render(instance, "inverted", Stream("w"))
        assert {plain.answer, inverted.answer} == {"Yes", "No"}
        numbers = [re.findall(r"\d+", text.prompt) for text in (plain, inverted)]
        assert numbers[0] == numbers[1]
        words = family.render(instance, "labels", Stream("w"))
        assert set(re.findall(r"\d+", words.prompt)) == set(numbers[0])


def test_answers_by_class():
    family, instances = draw("primality", 1)
    by_class = {instance.class_label: instance for instance in instances}
    assert family.render(by_class["prime"], "plain", Stream("w")).answer == "Yes"
    assert family.render(by_class["composite"], "plain", Stream("w")).answer == "No"
    assert family.render(by_class["prime"], "labels", Stream("w")).answer == "prime"
    family, instances = draw("subset_sum", 1)
    by_class = {instance.class_label: instance for instance in instances}
    assert family.render(by_class["yes"], "plain", Stream("w")).answer == "Yes"
    assert family.render(by_class["no"], "inverted", Stream("w")).answer == "Yes"


def test_letters_come_in_both_orders_and_mean_what_they_say():
    family, instances = draw("primality", 20)
    seen = set()
    for number, instance in enumerate(instances):
        rendered = family.render(instance, "letters", Stream("w", number))
        meanings = dict(re.findall(r"^([AB])\) (\w+)$", rendered.prompt, re.MULTILINE))
        assert meanings[rendered.answer] == instance.class_label
        seen.add((instance.class_label, rendered.answer))
    assert len(seen) == 4


def test_only_letters_read_the_stream():
    family, instances = draw("subset_sum", 1)
    for wording in ("plain", "inverted", "labels"):
        assert family.render(instances[0], wording, Stream("a")) == family.render(
            instances[0], wording, Stream("b")
        )


def test_prompt_of_primality_word_for_word():
    family, instances = draw("primality", 1)
    n = instances[0].params["n"]
    assert family.render(instances[0], "plain", Stream("w")).prompt == (
        f'Is {n} a prime number?\n\nEnd your reply with one line of the form "Answer: Yes" or "Answer: No".'
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_unknown_wording(name):
    family, instances = draw(name, 1)
    with pytest.raises(UsageError, match="no wording 'polite'") as caught:
        family.render(instances[0], "polite", Stream("w"))
    assert "plain" in caught.value.hint
