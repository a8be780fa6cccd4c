"""What an evaluator's script says it missed, and no text of the task asks for."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.evidence import quote_run
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_ATTRIBUTE = re.compile(
    r"(?:'(?P<object>\w+)' object has no|module '[\w.]+' has no|> does not have the) attribute '(?P<name>\w+)'"
)
_FILE = re.compile(
    r"(?:can't open file|no such file or directory:|\bmissing (?!\S* or )(?:[\w -]{1,30}: )?)\s*'?"
    r"(?P<path>[\w./-]*\w\.(?:py|js|html|css|json|csv|md|txt|log|sh|java|cpp))\b",
    re.IGNORECASE,
)
_MODULE = re.compile(r"No module named '(?P<name>\w+(?:\.\w+)+)'")
_KEYS = re.compile(r"\bmissing (?P<names>[a-z]+_\w+(?: or [a-z]+_\w+)*)(?![\w.])")
_UNVERIFIABLE = re.compile(r"\bcriterion not verifiable:?[ \t]*(?P<name>[^\n]{5,120}?)(?:\.{3}|\n|\Z)", re.IGNORECASE)
_BUILT_IN = frozenset("dict list str int float bool tuple set NoneType function module coroutine type bytes".split())
_STAND_IN = re.compile(r"(?:mock|fake|stub|dummy)", re.IGNORECASE)
_EXAMPLE = re.compile(r"(?:\be\.g\.|\bfor example|\bsuch as|\blike)[,:]?\s*[`'\"(]*\Z", re.IGNORECASE)


class _Miss(NamedTuple):
    """Something that a verdict misses."""

    kind: str
    names: tuple[str, ...]
    start: int
    end: int


class UnaskedInVerdict(SuiteDetector):
    """A script's verdict fails a run for a name, a key or a file that no text of the task asks for.

    Rules, for what the script of a logged run says:

    1. it misses an attribute, a module, a key or a file, and the name is in no text of the task or of another task
       of its scenario;
    2. it misses a method whose name the texts give only as an example ("e.g., `_plan`"): the example is mandatory;
    3. a stand-in of the evaluator's own (``MockResult``) lacks an attribute, so that the evaluator itself breaks;
    4. it says that a criterion is not verifiable: the criterion counts, and nothing can meet it.

    Files in a list (``['a.py', 'b.py']``) may be derived from the task's data and are skipped, as are attributes
    of built-in types, third-party modules, and what a judging model says.

    Flagged: "Missing summary: out/step_summary.json", when the task asks for `summary.json`.
    Not flagged: "Missing notes.md", when the task asks for `notes.md`.

    Wrong where the name belongs to files of the environment that the agent was meant to read.
    """

    id = "unasked-in-verdict"
    title = "a verdict misses what no text asks for"
    version = "1"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "Work that does all that was asked fails for a name that its author could not know."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note what the scripts of the task's runs miss, each thing once."""
        seen: set[tuple[str, tuple[str, ...]]] = set()
        scripted = False
        for run in runs:
            for i, judgement in enumerate(run.judgements):
                if judgement.kind != "script":
                    continue
                scripted = True
                for miss in _misses(judgement.reason):
                    if (miss.kind, miss.names) in seen:
                        continue
                    seen.add((miss.kind, miss.names))
                    text = sentence_around(judgement.reason, miss.start, miss.end)
                    yield Observation(
                        task_id=task.id,
                        key=task.cluster or task.id,
                        value={"kind": miss.kind, "names": list(miss.names)},
                        evidence=(quote_run(run, f"/judgements/{i}/reason", text=text, note="the verdict"),),
                    )
        said = "\n".join(text for _, text in task.user_texts()) if scripted else None
        yield Observation(task_id=task.id, key=task.cluster or task.id, value={"kind": "", "said": said})

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield what is missed and not asked for."""
        texts: dict[str, list[str]] = {}
        for item in observations:
            if not item.value["kind"] and item.value["said"] is not None:
                texts.setdefault(item.key, []).append(item.value["said"])
        silent = tuple(item.task_id for item in observations if not item.value["kind"] and item.value["said"] is None)
        if silent:
            yield Undecided(task_ids=silent, reason="no run of this task was judged by a script")
        for item in observations:
            kind, names = item.value["kind"], item.value.get("names", ())
            claim = _claim(kind, names, texts.get(item.key, ()))
            if claim:
                hit = Hit(
                    claim=claim,
                    evidence=item.evidence,
                    fix="Ask for it in the text, or grade what is asked for.",
                    category="unreachable-score" if kind in ("stand-in", "criterion") else None,
                    cause=" | ".join((item.key, kind, *names)),
                )
                yield Conclusion(task_ids=(item.task_id,), hit=hit)


def _claim(kind: str, names: Sequence[str], texts: Sequence[str]) -> str | None:
    """Describe what is wrong about a miss, or nothing when the texts ask for it."""
    if kind == "criterion":
        return f"The evaluator calls a criterion not verifiable: “{names[0]}”"
    if kind == "stand-in":
        return f"The evaluator's own stand-in breaks: {names[0]} has no {names[1]}"
    places = [(text, at) for text in texts for name in names for at in _mentions(text, name)]
    if not kind or (places and not all(_EXAMPLE.search(text[max(0, at - 40) : at]) for text, at in places)):
        return None
    if places:
        return f"The evaluator insists on {names[0]}, which the text gives only as an example"
    return f"The evaluator misses {' or '.join(names)}, which no text asks for"


def _mentions(text: str, name: str) -> list[int]:
    spellings = dict.fromkeys((name, name.replace(".", "/") if "." in name else name))
    return [
        match.start()
        for spelling in spellings
        for match in re.finditer(rf"(?<![\w-]){re.escape(spelling)}(?![\w-])", text)
    ]


def _misses(reason: str) -> Iterator[_Miss]:
    for match in _ATTRIBUTE.finditer(reason):
        owner = match["object"] or ""
        if _STAND_IN.match(owner):
            yield _Miss("stand-in", (owner, match["name"]), *match.span())
        elif owner not in _BUILT_IN:
            yield _Miss("attribute", (match["name"],), *match.span())
    for match in _FILE.finditer(reason):
        yield _Miss("file", (match["path"].rsplit("/", 1)[-1],), *match.span())
    for match in _MODULE.finditer(reason):
        yield _Miss("module", (match["name"],), *match.span())
    for match in _KEYS.finditer(reason):
        yield _Miss("key", tuple(match["names"].split(" or ")), *match.span())
    for match in _UNVERIFIABLE.finditer(reason):
        yield _Miss("criterion", (match["name"].strip(),), *match.span())
