"""`seal test`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console

if TYPE_CHECKING:
    from sealbench.stages.test import OwnTest


@click.command("test")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="CSV")
@click.option("--class", "class_column", required=True, metavar="COLUMN", help="The answer class.")
@click.option("--item", required=True, metavar="COLUMN", help="The problem's id: the unit.")
@click.option("--value", default=None, metavar="COLUMN", help="A number per response, for example tokens.")
@click.option("--cut", default=None, metavar="COLUMN", help="1 if the response was cut, else 0.")
@click.option("--cost-cap", type=click.IntRange(1), default=None, help="Values from here on were cut at it.")
@click.option("--stratum", default=None, metavar="COLUMN", help="Always conditioned on.")
@click.option("--class1", default=None, metavar="LABEL", help="The class named first.")
@click.option(
    "--alternative",
    type=click.Choice(["greater", "less", "two-sided"]),
    default="two-sided",
    show_default=True,
)
@click.option("--exact", is_flag=True, help="Exact whatever it takes.")
@json_option
@pass_console
def command(
    console: Console,
    file: Path,
    class_column: str,
    item: str,
    value: str | None,
    cut: str | None,
    cost_cap: int | None,
    stratum: str | None,
    class1: str | None,
    alternative: Literal["greater", "less", "two-sided"],
    exact: bool,
    as_json: bool,
) -> None:
    """\b
    seal test responses.csv --class answer --item id --cut truncated
    seal test responses.csv --class answer --item id --value tokens --cost-cap 1000

    The exact test for your own numbers. Items, not responses, are exchanged between the classes: an
    item asked several times counts once. Prints which test it chose and why.
    """
    from sealbench.stages.test import Columns, test_csv

    columns = Columns(class_column, item, value, cut, stratum, cost_cap)
    found = test_csv(file, columns, class1=class1, alternative=alternative, exact=exact)
    console.json(_as_json(found)) if as_json else console.result(_text(found))


def _text(found: OwnTest) -> str:
    from sealbench.stats.results import decimal_text

    result = found.result
    sizes = [
        f"{label}: {size.instances} items, {size.responses} responses"
        for label, size in ((found.class1, result.class1), (found.class0, result.class0))
    ]
    lines = [
        f"test      {result.question}: {found.why}",
        f"unit      {result.unit}; {'; '.join(sizes)}",
        f"strata    {result.informative_strata} of {result.strata} hold both classes",
    ]
    if result.effect is not None:
        interval = ""
        if result.interval is not None and None not in (result.interval.low, result.interval.high):
            ends = [
                decimal_text(end, 4) for end in (result.interval.low, result.interval.high) if end is not None
            ]
            interval = f" [{ends[0]} to {ends[1]}]"
        lines.append(f"effect    {result.effect_name} {decimal_text(result.effect, 6)}{interval}")
    lines.append(f"p         {result.p_value.text()} ({_direction(found)}, {result.method})")
    if result.reason:
        lines.append(f"status    {result.status}: {result.reason}")
    lines += [f"note      {note}" for note in result.notes]
    return "\n".join(lines)


def _direction(found: OwnTest) -> str:
    if found.result.alternative == "two-sided":
        return f"two-sided by {found.result.two_sided}"
    return f"{found.class1} {found.result.alternative} than {found.class0}"


def _as_json(found: OwnTest) -> dict[str, object]:
    result = found.result
    return {
        "schema": "sealbench/test/v1",
        "test": result.question,
        "why": found.why,
        "unit": result.unit,
        "class1": found.class1,
        "class0": found.class0,
        "items": [result.class1.instances, result.class0.instances],
        "responses": [result.class1.responses, result.class0.responses],
        "alternative": result.alternative,
        "strata": result.strata,
        "effect": None if result.effect is None else str(result.effect),
        "p": result.p_value.to_json(),
        "method": result.method,
        "status": result.status,
        "reason": result.reason,
    }
