"""The task that Inspect AI finds as `sealbench/battery`; needs the extra `inspect`.

    inspect eval sealbench/battery -T battery=wave1 --model openai/gpt-5.5 --max-tokens 300 \\
      --log-dir .seal/inspect

Its log holds the prompts and answers in plain: keep it where nothing is published (`.seal/` is
git-ignored) until the battery is retired.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from sealbench.errors import CouldNotCheck, SealError
from sealbench.formats.sealed_sample import METADATA_KEY, SCORER, SealedSample, score_value
from sealbench.inspect_bridge.samples import Samples, samples_of
from sealbench.tasks.answers import grade, parse

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, grouped, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
except ImportError as error:
    raise CouldNotCheck(
        f"running a battery in Inspect AI needs the extra `inspect` of sealbench ({error}): "
        "pip install 'sealbench[inspect]'",
        hint="pip install 'sealbench[inspect]'",
    ) from error


@task
def battery(battery: str, workspace: str = ".", wording: str | None = None) -> Task:
    """A sealed or retired battery: one sample per item, in sealed order.

    Parameters
    ----------
    battery : its name.
    workspace : the workspace's folder, or one in it.
    wording : this wording only; all of them by default.

    Raises
    ------
    SealError : the battery cannot be opened here; the message says why.
    """
    try:
        opened = samples_of(Path(workspace), battery, wording)
    except SealError as error:
        # Inspect AI prints what a task raises; a note is printed with it.
        error.add_note(f"seal: hint: {error.hint}")
        raise
    samples = [
        Sample(id=one.id, input=one.prompt, target=one.answer, metadata=one.metadata)
        for one in opened.samples
    ]
    return Task(
        dataset=MemoryDataset(samples, name=battery),
        setup=exposure(opened),
        solver=generate(),
        scorer=sealed_answer(),
        metadata=opened.metadata,
        version=1,
    )


@solver
def exposure(opened: Samples) -> Solver:
    """Before a model is shown its first item, say so in the registry; once per model."""
    told: set[str] = set()
    lock = Lock()

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        model = str(state.model)
        with lock:
            if model not in told:
                opened.register_exposure(model)
                told.add(model)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "class_label", all=False)], name=SCORER)
def sealed_answer() -> Scorer:
    """Right or wrong by the battery's own parser, never by a model; nothing visible is no answer."""

    async def score(state: TaskState, _target: Target) -> Score:
        sealed = SealedSample.from_value(state.metadata[METADATA_KEY], "metadata")
        item = sealed.opened.item
        parsed = parse(state.output.completion, item.answer_type)
        found = grade(parsed, item.answer)
        return Score(value=score_value(found), answer=parsed.value or "", metadata={"grade": found})

    return score
