"""The part of a report that says, endpoint by endpoint, what was asked and what came back."""

from __future__ import annotations

from sealbench.formats.base import Bool, Count, JsonObject, Record, Str
from sealbench.formats.report_numbers import Policies


class ReportedModel(Record):
    """A model name that an endpoint reported, and in how many responses."""

    model: Str
    responses: Count


class EndpointAtCap(Record):
    """One endpoint at one cap, counted in responses over all families, wordings and classes.

    `planned` calls are those of run.json; `missing` ones have a line without a response, `absent` ones no
    line. Token sums are over the responses that report them, null where none does; `no_usage` responses
    report no charged tokens. `score` holds the accuracy over all graded answers.
    """

    cap: Count
    planned: Count
    responses: Count
    missing: Count
    absent: Count
    cut_reported: Count
    cut_inferred: Count
    cut_other: Count
    lost: Count
    empty: Count
    refused: Count
    filtered: Count
    unknown: Count
    at_cap: Count
    not_binding: Count
    no_usage: Count
    charged_tokens: Count | None
    reasoning_tokens: Count | None
    prompt_tokens: Count | None
    score: Policies


class EndpointSummary(Record):
    """One endpoint of run.json: as it was asked, what it said it is, and how it did at each cap."""

    name: Str
    provider: Str
    model: Str
    reported: tuple[ReportedModel, ...]
    reference: Bool
    cap_parameter: Str
    settings: JsonObject
    probed: Bool
    caps: tuple[EndpointAtCap, ...]
