"""What an agent is told during a run, or before it tries again, that gives the expected answer away."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.evaluation.stated_answer import telling_sentences
from agenthard.audit.detectors.support.gold_values import expected_values, stands_alone
from agenthard.audit.detectors.support.recorded_runs import answered
from agenthard.audit.evidence import canonical_json, quote_run
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXEMPLARS = 3
"""Most runs that a finding quotes."""
_AROUND = 200
"""Characters next to a value that are looked at."""
_LITERAL = re.compile(
    r"`(?P<code>[^`\n]{4,60})`|\"(?P<plain>[^\"\n]{4,60})\"|“(?P<curly>[^”\n]{4,60})”"
    r"|(?<=[a-z,:;(] )(?P<name>[A-Z][\w'’.-]+(?: (?:of |the |de )?[A-Z][\w'’-]+)+)"
)


class AnswerInFeedback(SuiteDetector):
    """Nothing that an agent is told on the way gives away what it is scored on.

    Read are the responses of tools and the harness's messages of recorded runs, and what the judges and scripts said
    about a run that was tried again: that is the feedback for the next attempt. Expected values are the arguments of
    the gold calls, the required texts and the accepted answers, and what a scored criterion in words names as literal:
    between quotation marks or backquotes, or as a name of two words or more.

    Rule: the feedback of a judge or script holds an expected value, or a tool's response or a message of the harness
    holds one in a sentence that speaks of grading or of the expected answer ("expected call", "the correct answer
    is"). The value is in no text of the task, and nothing in the run said it before, the agent included.

    Flagged: "Wrong: any answer other than Ada Byron scores 0" as the feedback on a run that named another person, with
    another attempt to follow; a tool that answers "Error: expected arguments {"book": "B-7"}".
    Not flagged: "The answer is wrong."; feedback on the last attempt; feedback that names what the agent wrote itself.

    Responses count where the log says which call they answer; other logs mix them with the agent's own words.

    When it is wrong: the harness did not pass on what the log has as the judge's words; giving a value as a hint is
    part of the task's rules.
    """

    id = "answer-in-feedback"
    title = "Feedback gives the expected answer away"
    version = "1"
    experimental = True
    category = "answer-leakage"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The next attempt, or the next step, can copy the value, so that it shows nothing about the agent."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if _expected(task) else "no expected value that could be recognised in a text"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the runs of one task in which a value is given away."""
        played = list(runs)
        again = {run.retry_of for run in played if run.retry_of is not None}
        values = _expected(task)
        told = "\n".join(text for _, text in task.user_texts()).casefold()
        unsaid = [value for value in values if value.casefold() not in told]
        for run in played:
            found = next(_given(task, run, unsaid, again=run.id in again), None) if unsaid else None
            evidence = (quote_run(run, found[0], text=found[1], note=f"told to {run.model}"),) if found else ()
            yield Observation(task_id=task.id, key=task.id, value=found[2] if found else None, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per task."""
        for task_id in dict.fromkeys(item.task_id for item in observations):
            runs = [item for item in observations if item.task_id == task_id]
            telling = [item for item in runs if item.evidence]
            if telling:
                values = ", ".join(sorted({repr(item.value) for item in telling}))[:200]
                yield Conclusion(
                    task_ids=(task_id,),
                    hit=Hit(
                        claim=f"What the agent is told in {len(telling)} of {len(runs)} runs gives the expected value "
                        f"{values} away",
                        evidence=_shown(telling),
                        fix="Say in the feedback what is wrong, and not what is right.",
                        measures={"runs": len(runs), "runs_affected": len(telling)},
                    ),
                )


def _shown(telling: Sequence[Observation]) -> tuple[Evidence, ...]:
    return tuple(chain.from_iterable(item.evidence for item in telling[:EXEMPLARS]))


def _expected(task: AgentTask) -> list[str]:
    """List the values that a run is scored on, long ones first, so that a whole is named before its part."""
    literals = (
        next(filter(None, found.groups()))
        for check in task.evaluation.checks
        if check.scored and check.kind in ("rubric", "judge") and isinstance(check.expected, str)
        for found in _LITERAL.finditer(check.expected)
    )
    return sorted({*(value for _, value in expected_values(task)), *literals}, key=lambda value: (-len(value), value))


def _given(task: AgentTask, run: Trajectory, values: Sequence[str], *, again: bool) -> Iterator[tuple[str, str, str]]:
    """Yield pointer and text of what gives a value away, and the value."""
    responses = {now.position for now in answered(run.messages)}
    harness = ("system", "user") if task.user.kind == "scripted" else ("system",)
    first = next((i for i, message in enumerate(run.messages) if message.role == "assistant"), len(run.messages))
    new = {value: value.casefold() for value in values}
    for i, message in enumerate(run.messages):
        here = [message.content.casefold(), *(canonical_json(call.arguments).casefold() for call in message.tool_calls)]
        for value in [value for value, plain in new.items() if any(plain in text for text in here)]:
            del new[value]
            if i in responses or (i > first and message.role in harness):
                sentence = _telling(message.content, value)
                if sentence is not None:
                    yield f"/messages/{i}/content", sentence, value
    for i, judgement in enumerate(run.judgements if again else ()):
        for value in new:
            found = stands_alone(value, judgement.reason)
            if found:
                at = max(0, found.start() - _AROUND)
                yield f"/judgements/{i}/reason", judgement.reason[at : found.end() + _AROUND], value


def _telling(text: str, value: str) -> str | None:
    """Return a sentence that mentions the expected answer and holds the value."""
    found = stands_alone(value, text)
    around = text[max(0, found.start() - _AROUND) : found.end() + _AROUND] if found else ""
    return next((sentence for sentence in telling_sentences(around) if stands_alone(value, sentence)), None)
