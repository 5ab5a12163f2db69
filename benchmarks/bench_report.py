"""The report of a large run: 500 instances, 4 endpoints, 5 caps, 10 repeats (100,000 log lines).

    python benchmarks/bench_report.py [INSTANCES]

Aim: under 60 s and 1 GB on one core, reading and rendering included. Prints seconds of processor time,
peak memory and the tiers used.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sealbench.analysis.evaluate import evaluate
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.stream import Stream
from sealbench.formats.preregistration import Endpoint, Parser
from sealbench.formats.run import AttemptRecord, LogLine, Run, read_log
from sealbench.render.html import render_html
from sealbench.render.markdown import render_markdown
from sealbench.render.terminal import render_terminal

ENDPOINTS, CAPS, REPEATS = 4, (300, 600, 1200, 2400, 4800), 10
ATTEMPT = AttemptRecord(
    at="2026-11-30T12:00:00.000000Z", ended_at="2026-11-30T12:00:01.000000Z", status=200, outcome="answered"
)


def make_run(instances: int) -> Run:
    """run.json of an exploratory run."""
    names = [f"host/model{number}" for number in range(ENDPOINTS)]
    return Run(
        author="SHA256:" + "A" * 43,
        registry="1" * 64,
        registry_size=3,
        registry_head="2" * 64,
        name="large",
        number=1,
        exploratory=True,
        battery="large",
        commitment={"path": "commitments/large.json", "sha256": "3" * 64},
        plan=None,
        require="nothing",
        tool_version="0.1.0",
        started_at="2026-11-30T12:00:00Z",
        block=None,
        endpoints=tuple(
            Endpoint(
                name=name,
                provider="openai",
                model=name,
                base_url=None,
                api_key_env=None,
                cap_parameter="max_tokens",
                settings={},
                probed=True,
            )
            for name in names
        ),
        caps=CAPS,
        repeats=REPEATS,
        wordings=("plain",),
        parser=Parser(name="sealbench-answers", version=1),
        planned_calls=instances * ENDPOINTS * len(CAPS) * REPEATS,
    )


def make_log(run: Run, instances: int) -> Iterator[LogLine]:
    """Costs overlap between the classes, as real ones do; cut above the cap."""
    stream = Stream("benchmark", b"report")
    costs = [2 ** (stream.below(500) / 100 + 6 + (number % 2)) for number in range(instances)]
    seq = 0
    for endpoint in run.endpoints:
        for cap in run.caps:
            for repeat in range(run.repeats):
                for number, cost in enumerate(costs):
                    yield _line(seq, run, endpoint.name, cap, repeat, number, cost, stream)
                    seq += 1


def _line(
    seq: int, run: Run, endpoint: str, cap: int, repeat: int, number: int, cost: float, stream: Stream
) -> LogLine:
    tokens = int(cost * (0.8 + stream.below(100) / 250))
    cut = tokens > cap
    name = sha256_hex(str(number).encode())[:16]
    return LogLine(
        seq=seq,
        prev="4" * 64,
        item=name,
        instance=name,
        family="primality",
        class_label="prime" if number % 2 else "composite",
        kind="plain",
        stratum="one",
        search="exhaustive" if number % 2 else "witness",
        wording="plain",
        category="primality",
        endpoint=endpoint,
        model=endpoint,
        cap=cap,
        cap_parameter="max_tokens",
        repeat=repeat,
        end="cut_reported" if cut else "finished",
        answer="empty" if cut else "right",
        stop="length" if cut else "stop",
        at_cap=False,
        not_binding=False,
        charged_tokens=min(tokens, cap),
        visible_tokens=min(tokens, cap),
        reasoning_tokens=None,
        prompt_tokens=20 + number % 7,
        visible_characters=40,
        characters_without_markdown=40,
        minimal_characters=3,
        first_line_tokens=3,
        longest_step=5,
        mean_logprob=None,
        parsed=None if cut else "yes",
        attempts=(ATTEMPT,),
        response_id_hash=None,
        body_hash=None,
        fingerprint=None,
    )


def log_bytes(run: Run, lines: Iterable[LogLine]) -> bytes:
    """log.jsonl: the lines chained to run.json and to each other."""
    found, previous = [], run.digest()
    for line in lines:
        raw = line.model_copy(update={"prev": previous}).to_bytes()
        previous = sha256_hex(raw)
        found.append(raw + b"\n")
    return b"".join(found)


def main() -> None:
    """Build a log, then read, evaluate and render it as `seal report` does, and print what each took."""
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    run = make_run(instances)
    data = log_bytes(run, make_log(run, instances))
    times = [time.process_time()]
    lines = tuple(read_log(data, run.digest()))
    times.append(time.process_time())
    report = evaluate(run, lines, None, log_sha256=sha256_hex(data))
    times.append(time.process_time())
    page = render_html(report, lines)
    text = render_markdown(report) + render_terminal(report)
    times.append(time.process_time())
    spent = [after - before for before, after in pairwise(times)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(lines)} lines of {len(data) / 1e6:.0f} MB, in seconds of processor time:")
    print(f"read {spent[0]:.1f}, evaluated {spent[1]:.1f}, rendered {spent[2]:.1f}, all {sum(spent):.1f}")
    print(f"peak memory {peak:.0f} MB, page {len(page) / 1e6:.1f} MB, texts {len(text) / 1e6:.1f} MB")
    print(f"report of {len(report.to_bytes())} bytes, sha256 {report.digest()}")
    print(f"tiers: {dict(Counter(test.method for test in report.tests))}")


if __name__ == "__main__":
    main()
