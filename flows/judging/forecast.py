"""Estimate the cost of a judging before anything is asked (``agenthard judge run --dry-run``)."""

import asyncio
from collections.abc import Sequence

from agenthard.audit.judge.settings import Judge
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.prompts import PreparedPrompt
from agenthard.flows.judging.settings import JudgingSettings, select_tasks
from agenthard.flows.judging.store import AnswerStore, Question, questions_of
from agenthard.flows.judging.workers import PreparationError, PromptWorker, prompt_worker, run_async
from agenthard.models.cache import ReplyCache
from agenthard.models.estimate import Estimate, Spread, Workload, estimate
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens, prompt_tokens
from agenthard.taxonomy.record import Record

_VERDICT = (250.0, 900.0)
"""Tokens of a short and of a typical verdict."""
_REASONING = 3_000.0
"""Typical reasoning tokens before a verdict, where the settings of the model ask for reasoning."""
_SECOND_TIER = 0.3
"""Typical share of tasks that go to the second tier: those flagged or in doubt."""
_LOOKED_UP = 1.5
"""Factor by which look-ups lengthen a prompt, on average over the turns."""
_CONCURRENT_TASKS = 64


class JudgeForecast(Record):
    """Estimated cost of one judge."""

    judge: str
    """Name of the judge."""
    questions: int
    """Questions without an answer."""
    cached: int
    """Questions without an answer whose reply is in the cache."""
    takes: Estimate | None
    """Requests, tokens and money; None when there is nothing to ask."""


def forecast(settings: JudgingSettings) -> list[JudgeForecast]:
    """Estimate the cost of each judge, without the questions that are answered or cached. Nothing is sent.

    The low estimate takes every verdict as short and no task as one for the second tier. The high estimate takes every
    verdict at its limit, with all attempts, and every task in the second tier.

    Raises:
        CommandError: The audit cannot be judged.
    """
    inputs = AuditInputs(settings.audited())
    return run_async(_forecast(settings, select_tasks(settings, inputs)))


class _Tally:
    """Sums over the questions of one judge."""

    def __init__(self) -> None:
        self.questions = self.cached = 0
        self.typical = self.most = self.output = 0


async def _forecast(settings: JudgingSettings, task_ids: Sequence[str]) -> list[JudgeForecast]:
    known: set[Question] = set()
    if settings.folder.store.is_file():
        store = AnswerStore(settings.folder.store)
        known = store.questions() - (set(store.failed()) if settings.retry else set())
        store.close()
    path = settings.folder.cache_of(settings)
    cache = ReplyCache(path) if path.is_file() else None
    tallies = {judge.name: _Tally() for judge in settings.judges.judges}
    free = asyncio.Semaphore(_CONCURRENT_TASKS)
    try:
        async with prompt_worker(settings) as worker, asyncio.TaskGroup() as group:
            for task_id in task_ids:
                await free.acquire()
                one = group.create_task(_task(settings, task_id, worker, known, cache, tallies))
                one.add_done_callback(lambda _: free.release())
    finally:
        if cache is not None:
            cache.close()
    return [_of_judge(settings, judge, tallies[judge.name]) for judge in settings.judges.judges]


async def _task(
    settings: JudgingSettings,
    task_id: str,
    worker: PromptWorker,
    known: set[Question],
    cache: ReplyCache | None,
    tallies: dict[str, _Tally],
) -> None:
    judges = settings.judges.judges
    wanted = [question for question in questions_of(task_id, judges) if question not in known]
    try:
        prompts: dict[str, PreparedPrompt] = await worker.prepare(task_id) if wanted else {}
    except PreparationError:
        return  # Nothing can be asked about it; the judging reports why.
    for question in wanted:
        request, digest = prompts[question.judge].request, prompts[question.judge].digests[question.sample]
        tally = tallies[question.judge]
        tally.questions += 1
        tally.cached += cache is not None and cache.has(digest)
        tally.typical += prompt_tokens(request)
        tally.most += most_prompt_tokens(request)
        tally.output = max(tally.output, most_output_tokens(request))


def _of_judge(settings: JudgingSettings, judge: Judge, tally: _Tally) -> JudgeForecast:
    takes = None
    if tally.questions:
        takes = estimate(_workload(settings, judge, tally), settings.price_table())
    return JudgeForecast(judge=judge.name, questions=tally.questions, cached=tally.cached, takes=takes)


def _workload(settings: JudgingSettings, judge: Judge, tally: _Tally) -> Workload:
    attempts, turns = float(settings.judges.attempts), 1.0 + settings.judges.lookups if judge.investigates else 1.0
    low, typical = (0.0, _SECOND_TIER) if judge.tier == "second" else (1.0, 1.0)
    longer = _LOOKED_UP if judge.investigates else 1.0
    prompt, most = tally.typical / tally.questions, tally.most / tally.questions
    sampling = judge.model.sampling
    short, usual = _VERDICT
    if sampling.reasoning_effort or sampling.thinking_tokens:
        usual += _REASONING
    return Workload(
        model=judge.model.name,
        episodes=tally.questions,
        begun=tally.cached,
        requests=Spread(low=low, typical=typical * (1 + turns) / 2, high=attempts * turns),
        prompt_tokens=Spread(low=prompt, typical=prompt * longer, high=max(most, prompt) * longer),
        completion_tokens=Spread(
            low=min(short, tally.output), typical=min(usual, tally.output), high=float(tally.output)
        ),
    )
