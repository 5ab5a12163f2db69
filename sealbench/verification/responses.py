"""Step 10 after retirement: each log line against its item and against the raw response behind it.

The salts follow from K, so the salted hashes open; what the log says of a response (how it ended, the
answer read from it, its lengths and token counts) is computed again from the published body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sealbench.crypto.derivation import ResponseSalts, salted_hash
from sealbench.errors import CertificateFailed
from sealbench.formats.battery import Battery, BatteryKey, Item
from sealbench.formats.run import WITHHELD, LogLine, PublishedResponse, RawResponse, Run
from sealbench.verification.evidence import parse_again
from sealbench.verification.lines import SMALL
from sealbench.verification.memo import Memo

ITEM_FIELDS = ("instance", "family", "class_label", "kind", "stratum", "search", "wording", "category")
# Responses are checked in parts, of so many at least and so many parts at most: each is what another process
# is given at a time, with the whole battery, and of a small run it is remembered as one outcome.
_PART, _PARTS = 100, 32
_OWN = ("seq", "prev", "response_id_hash", "body_hash")  # fields that no response decides


def check_items(battery: Battery, lines: Sequence[LogLine], wordings: Sequence[str], *, whole: bool) -> None:
    """Every line repeats its item's fields and, with `whole`, every item asked for has a line.

    Raises
    ------
    CertificateFailed : names the line, or the item without one.
    """
    items = {item.id: item for item in battery.items}
    check_lines(items, lines)
    absent = {item.id for item in items.values() if item.wording in wordings} - {line.item for line in lines}
    if whole and absent:
        raise CertificateFailed(f"item {min(absent)} of the battery has no line")


def check_lines(items: Mapping[str, Item], lines: Sequence[LogLine]) -> None:
    """Every line repeats the fields of its item, by id; CertificateFailed names the line."""
    for line in lines:
        item = items.get(line.item)
        if item is None:
            raise CertificateFailed(f"line {line.seq + 1}: item {line.item} is not in the battery")
        for field in ITEM_FIELDS:
            said, true = getattr(line, field), getattr(item, field)
            if said != true:
                raise CertificateFailed(f"line {line.seq + 1}: {field} is {said}, the item's is {true}")
        if line.minimal_characters != len(item.minimal_answer):
            raise CertificateFailed(f"line {line.seq + 1}: minimal_characters is not the item's")


def check_responses(
    memo: Memo, run_bytes: bytes, log_bytes: bytes, battery_bytes: bytes, key_bytes: bytes, raw: bytes
) -> str:
    """Every raw response opens its line's hashes and gives the line's fields again.

    Log, battery and K have been checked by then. Returns why not all could be checked here (responses that
    are withheld, a parser or provider that is not installed), or ""; what is there opens its hashes.

    Raises
    ------
    CertificateFailed : names the line.
    """
    lines, responses = log_bytes.split(b"\n")[:-1], raw.split(b"\n")[:-1]
    if len(responses) != len(lines):
        raise CertificateFailed(f"{len(responses)} responses for {len(lines)} log lines")

    size = max(_PART, -(-len(lines) // _PARTS))
    ask = memo.costly if len(raw) <= SMALL else memo.spread

    def part(first: int) -> int:
        chosen = (b"\n".join(of[first : first + size]) for of in (lines, responses))
        return ask(check_part, memo, run_bytes, battery_bytes, key_bytes, first, *chosen)

    withheld = sum(memo.each(part, range(0, len(lines), size)))
    gap = _unreadable(Run.from_bytes(run_bytes))
    if withheld:
        told = f"{withheld} of {len(lines)} responses are withheld by the author"
        return f"{told}, and {gap}" if gap else told
    return gap


def check_part(
    memo: Memo,
    run_bytes: bytes,
    battery_bytes: bytes,
    key_bytes: bytes,
    first: int,
    lines: bytes,
    responses: bytes,
) -> int:
    """As `check_responses`, for the lines and responses from number `first` on; how many are withheld."""
    run = Run.from_bytes(run_bytes)
    battery = parse_again(memo, Battery, battery_bytes, f"batteries/{run.battery}/battery.json")
    salts = ResponseSalts(BatteryKey.from_bytes(key_bytes).secret_bytes(), run.name)
    items = {item.id: item for item in battery.items}
    readable = not _unreadable(run)
    providers = {endpoint.name: endpoint.provider for endpoint in run.endpoints}
    withheld = 0
    pairs = zip(lines.split(b"\n"), responses.split(b"\n"), strict=True)
    for number, (raw_line, response) in enumerate(pairs, start=first):
        if _is_withheld(response, number):
            withheld += 1
            continue
        line = LogLine.from_bytes(raw_line)
        provider = providers[line.endpoint] if readable else ""
        check_response(RawResponse.from_bytes(response), line, items[line.item], salts.salt(number), provider)
    return withheld


def _is_withheld(data: bytes, number: int) -> bool:
    """Whether a published line leaves its response out; CertificateFailed if it does so for another line."""
    if WITHHELD not in data:
        return False
    response = PublishedResponse.from_bytes(data)
    if response.withheld and response.seq != number:
        raise CertificateFailed(f"line {number + 1}: is response {response.seq}")
    return response.withheld is True


def _unreadable(run: Run) -> str:
    """Why responses of this run cannot be read here as they were then; empty if they can."""
    from sealbench.endpoints.base import provider_names
    from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION

    if (run.parser.name, run.parser.version) != (PARSER_NAME, PARSER_VERSION):
        used = f"{run.parser.name} {run.parser.version}"
        return f"answers were read by {used}, installed is {PARSER_NAME} {PARSER_VERSION}"
    missing = {endpoint.provider for endpoint in run.endpoints} - set(provider_names())
    return f"the provider {min(missing)} is not installed" if missing else ""


def check_response(response: RawResponse, line: LogLine, item: Item, salt: bytes, provider: str) -> None:
    """One raw response against its log line; CertificateFailed says what differs.

    Without a `provider` only the hashes are opened.
    """
    where = f"line {line.seq + 1}"
    if response.seq != line.seq:
        raise CertificateFailed(f"{where}: is response {response.seq}")
    for name, text, expected in (
        ("response id", response.response_id, line.response_id_hash),
        ("body", response.body, line.body_hash),
    ):
        found = None if text is None else salted_hash(salt, text.encode("utf-8"))
        if found != expected:
            raise CertificateFailed(f"{where}: the salted hash of the {name} is another one")
    if response.body is not None and provider:
        _check_reading(response, line, item, provider, where)
    elif response.body is None and (line.end != "error" or response.text is not None):
        raise CertificateFailed(f"{where}: ended as {line.end}, and there is no body to show it")


def _check_reading(response: RawResponse, line: LogLine, item: Item, provider: str, where: str) -> None:
    """Everything the line says of its response, read again from the body."""
    from sealbench.analysis.measure import log_fields
    from sealbench.endpoints.base import get_provider

    status = line.attempts[-1].status if line.attempts else None
    body = (response.body or "").encode("utf-8")
    parsed = get_provider(provider).parse_response(status or 200, {}, body, line.cap)
    if (parsed.text, parsed.response_id or None) != (response.text, response.response_id):
        raise CertificateFailed(f"{where}: text or response id are not those in the body")
    fields = log_fields(
        parsed,
        item,
        endpoint=line.endpoint,
        cap=line.cap,
        cap_parameter=line.cap_parameter,
        repeat=line.repeat,
        attempts=line.attempts,
    )
    # One API gives an error's code in a header only, and headers are not published.
    unseen = (*_OWN, "stop") if parsed.end == "error" else _OWN
    for name, said in line.to_value().items():
        if name not in unseen and fields[name] != said:
            raise CertificateFailed(f"{where}: {name} is {said!s:.40}, the body gives {fields[name]!s:.40}")
