"""Requirements that a task states and no scored check covers."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.numbers import numbers_in
from agenthard.audit.detectors.support.task_texts import asked_figures
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask, Check

_SEEN_ONLY_IN_THE_RUN = re.compile(
    r"\b(?:communicat|tell|told|inform|mention|sa(?:ys?|id)\b|identif|detect|reali[sz]|verif|confirm|explain|search|look"
    r"|reveal|disclos|acknowledg|apologi[sz]|summari[sz]|sums? up|greet|repl(?:y|ies)|respon[ds]|answer"
    r"|check(?:s|ed)?\b(?! bag)|gets?\b|ask)|\boffer\w*\b.*\b(?:before|unless|until)\b",
    re.IGNORECASE,
)
_CHANGES_DATA = re.compile(
    r"\b(?:cancel|book|reserv|updat|modif|chang|add|remov|delet|creat|set|fill|plac|order|renew|lend|refund|return|exchang"
    r"|upgrad|downgrad|charg|pa(?:y|id)|issu|send|sent\b|transfer|schedul|assign|mov|process|select|cho+s|us(?:e[sd]?|ing)\b"
    r"|grant|approv|compensat|proceed|activat|deactivat|enabl|disabl|turn|toggl|writ|wrote|stor|sav|edit|insert|submit"
    r"|appl(?:y|ies|ied)|keep|kept|leav|left|give[sn]?\b|gave|provid|offer|mak|made|den(?:y|ies|ied)|refus"
    r"|declin|accept|allow|handl|combin|split|reset|restart|reboot|resum|suspend|unlock|block|switch|connect|open|clos)",
    re.IGNORECASE,
)
"""Verbs of what leaves a trace in the data, or would."""
_SAID = re.compile(r"\b(?:communicat|tell|told|inform|mention|sa(?:ys?|id)\b)", re.IGNORECASE)
_NO_FIGURE = re.compile(r"\b(?:which|whether|when)\b", re.IGNORECASE)
"""Words of questions for a choice, and for a time that the data need not have."""
_PREAMBLE = re.compile(r"^\s*check that\b", re.IGNORECASE)


class UnscoredRequirement(TaskDetector):
    """A task states a requirement, and violating it costs nothing.

    Rules:

    1. a check is listed with the task and no code scores it, and no scored check decides the same thing. An assertion
       on what happens to the data ("does not cancel the order", "updates the address") is decided by the final state
       where that is scored; one on what the agent says, looks up, finds out or asks first is not, unless a required
       text carries its figures, nor is one without any verb of a change ("polite, at most three sentences"). A required
       text that no code looks for is decided where assertions that a judge scores state its figures or its words. One
       finding per kind of check, with all tasks that state such a requirement.
    2. the simulated user wants to be told a figure ("you want to know how much you will get back"), and not which of
       several, or when; the final state is scored, and no text at all is required of the agent. This is a reading of
       the text, so it is only suspected.

    Flagged: "Agent verifies that the flight was delayed", unscored. "You want to know the total", with no outputs.
    Not flagged: "Agent does not cancel the order" next to a scored final state; "Agent says that the total is $44"
    next to the required text "44".

    The first rule is wrong where an assertion uses a verb of saying for an act on the data; the second where the user
    asks and does not insist on an answer.
    """

    id = "unscored-requirement"
    title = "a stated requirement that no check covers"
    version = "5"
    category = "unscored-requirement"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "An agent that ignores the requirement scores as well as one that meets it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if not task.evaluation.checks:
            return "nothing is known about the evaluation"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield what ``task`` states without scoring it."""
        yield from _unscored_checks(task)
        yield from _unanswered_questions(task)


def _unscored_checks(task: AgentTask) -> Iterator[Hit]:
    by_kind: dict[str, list[int]] = {}
    for i, check in enumerate(task.evaluation.checks):
        if not check.scored and check.expected and not _decided_elsewhere(check, task):
            by_kind.setdefault(check.kind, []).append(i)
    for kind, indices in by_kind.items():
        name = {"judge": "assertions for a judge"}.get(kind, f"{kind.replace('_', ' ')} checks")
        yield Hit(
            claim=f"The criteria list {name} that no code scores and no scored check decides",
            evidence=tuple(quote(task, f"/evaluation/checks/{i}/expected", note="stated, not scored") for i in indices),
            fix="Score them, or move what matters into checks that are scored.",
            cause=f"unscored {kind}",
            level=Level.EVALUATOR,
        )


def _decided_elsewhere(check: Check, task: AgentTask) -> bool:
    if check.kind == "output_substring":
        return _restated(check, task)
    if check.kind not in ("judge", "rubric") or not isinstance(check.expected, str):
        return False
    text = _PREAMBLE.sub("", check.expected)
    scored = [other for other in task.evaluation.checks if other.scored]
    required = [number for other in scored if other.kind == "output_substring" for number in numbers_in(other.expected)]
    if _SAID.search(text) and required:
        stated = numbers_in(text)
        return not stated or any(number in required for number in stated)
    changes = _CHANGES_DATA.search(text) and not _SEEN_ONLY_IN_THE_RUN.search(text)
    return bool(changes) and any(other.kind == "final_state" for other in scored)


def _restated(check: Check, task: AgentTask) -> bool:
    """Tell whether assertions that a judge scores contain everything that a required text says."""
    texts = check.expected if isinstance(check.expected, list) else [check.expected]
    scored = [
        str(other.expected)
        for other in task.evaluation.checks
        if other.scored and other.kind in ("judge", "rubric", "output_substring")
    ]
    stated = {number for text in scored for number in numbers_in(text)}
    said = " ".join(" ".join(map(_words, scored)).split())
    for text in map(str, texts):
        numbers = numbers_in(text)
        if not (all(number in stated for number in numbers) if numbers else _words(text) in said):
            return False
    return bool(texts)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _unanswered_questions(task: AgentTask) -> Iterator[Hit]:
    scored = [i for i, check in enumerate(task.evaluation.checks) if check.scored]
    kinds = {task.evaluation.checks[i].kind for i in scored}
    if task.user.kind != "simulated" or "final_state" not in kinds or kinds & {"output_substring", "rubric", "judge"}:
        return
    for pointer, text in task.user_texts():
        for sentence in asked_figures(text):
            if _NO_FIGURE.search(sentence):
                continue
            yield Hit(
                claim="The user wants to be told a figure, and no text is required of the agent",
                evidence=(
                    quote(task, pointer, text=sentence, note="what the user wants to know"),
                    *(quote(task, f"/evaluation/checks/{i}", note="what is scored") for i in scored),
                ),
                fix="Add the figure to the required texts.",
                tier=Tier.SUSPECTED,
            )
            return
