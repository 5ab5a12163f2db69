"""Drawing for tests, and changing a certificate in every field."""

from sealbench.crypto.canonical import encode
from sealbench.crypto.stream import Stream
from sealbench.tasks.base import get_family


def draw(name, per_class=5, seed="test", **given):
    """Different instances of a family, `per_class` for each class, kind and stratum."""
    family = get_family(name)
    parameters = family.complete({key: str(value) for key, value in given.items()})
    instances, seen = [], set()
    for index, slot in enumerate(family.slots(parameters, per_class)):
        stream = Stream("sealbench/v1/item", seed, name, index)
        for _ in range(1000):
            instance = family.generate(slot, parameters, stream)
            if encode(instance.params) not in seen:
                break
        seen.add(encode(instance.params))
        instances.append(instance)
    return family, instances


def alterations(value):
    """Copies of a JSON value, each changed in one place: every leaf, every key, every list entry."""
    yield from _at(value, lambda new: new)


def _at(value, put):
    if isinstance(value, dict):
        for key in value:
            yield put({other: entry for other, entry in value.items() if other != key})
            yield from _at(value[key], lambda new, key=key: put({**value, key: new}))
        yield put({**value, "extra": 1})
    elif isinstance(value, list):
        for place in range(len(value)):
            yield put(value[:place] + value[place + 1 :])
            yield put(value[: place + 1] + value[place:])
            yield from _at(
                value[place], lambda new, place=place: put([*value[:place], new, *value[place + 1 :]])
            )
        yield put([*value, 1])
        if len(value) > 1 and value != value[::-1]:
            yield put(value[::-1])
    elif isinstance(value, bool):
        yield put(not value)
        yield put(int(value))
        yield put(None)
    elif isinstance(value, int):
        for new in (
            value + 1,
            value - 1,
            value + 2,
            -value - 1,
            value * 2 + 1,
            str(value),
            float(value),
            None,
        ):
            yield put(new)
    elif isinstance(value, str):
        yield put(value + "0")
        yield put(value[:-1])
        yield put(("1" if value[:1] != "1" else "2") + value[1:])
        yield put(value.upper() if value != value.upper() else "0" + value)
        yield put(None)
        if value.isdigit():
            yield put(int(value))
            yield put(str(int(value) + 2))
