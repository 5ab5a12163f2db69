"""What a log does not hold and the verbosity measures need of an endpoint: prices, its release date.

None of it is part of a plan or a run, so none of it can be verified; every number that rests on it says
where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from sealbench.endpoints.settings import Price


@dataclass(frozen=True)
class EndpointFacts:
    """One endpoint's price and dates as told when the report was asked for; None is not known.

    Attributes
    ----------
    price : USD per million tokens; `price_source` says who told it.
    baseline_tokens : tokens of a minimal answer by the endpoint's tokenizer.
    """

    price: Price | None = None
    price_source: str = ""
    release_date: date | None = None
    baseline_tokens: int | None = None


Facts = Mapping[str, EndpointFacts]  # by endpoint


def price_of(facts: Facts, endpoint: str) -> Price | None:
    """The price of an endpoint, if anybody told it."""
    return facts[endpoint].price if endpoint in facts else None


def cost_of(price: Price, prompt_tokens: int, charged_tokens: int) -> Fraction:
    """USD of these tokens, exactly."""
    return (Fraction(price.input) * prompt_tokens + Fraction(price.output) * charged_tokens) / 1_000_000
