"""Names that the criteria use and the task never asks for."""

import re
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.task_texts import asked, graded, sentence_around, shown_criteria
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_CODE = re.compile(r"`([^`\n]{1,120})`")
_ELEMENT = re.compile(r"(?<![\w&])#[a-zA-Z][\w-]+")
_MEMBER = re.compile(r"\bwindow\.\w+\.(\w+)")
_METHOD = re.compile(r"^(?!document\.)(?:\w+\.)*([a-z]\w*[A-Z]\w*)\(")
_COMMAND = re.compile(r"^(?:python3?|node|bash|sh|java|make)\s")
_SLOT = re.compile(r"<[\w -]+>|\{[\w -]+\}")
_FILE = re.compile(
    r"(?<![\w*.<>{}])[\w./-]*\w\.(?:py|js|html|css|json|csv|md|txt|log|sh|java|cpp|hpp|yaml|yml|toml)\b(?!\()"
)
_EXAMPLE = re.compile(r"(?:e\.g\.|such as|for example|or similar|equivalent)[^.`]{0,20}$", re.IGNORECASE)


class UnaskedName(SuiteDetector):
    """A criterion names a page element, a method or a file that no text has asked for.

    Rule: an element id (``#score-value``), a method in camel case or a member of ``window``, or a file name is in
    code quotes in the criteria of a task. It is in nothing that is asked in this task or, where tasks build on one
    another (same cluster), in an earlier one, and in no earlier criteria either. Names given as examples do not count,
    nor do recordings (``.png``, ``.webm``) and programs that a
    criterion runs: these are the evaluator's. ``notes_<user>.md`` in a text asks for ``notes_ada.md``.

    Where the agent reads the criteria (they are in its text), it can still meet them, and the finding is only a
    matter of style for the text; where it does not, the requirement is hidden.

    Flagged: "`#score-value` must freeze above 0", when the text mentions a score and no such element.
    Not flagged: "`#score-value` must freeze", when an earlier task of the same scenario asks for `#score-value`.

    Wrong where the name belongs to the environment that the agent finds (a helper script, a data file).
    """

    id = "unasked-name"
    title = "a criterion names what the task never asks for"
    version = "2"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "Work that does all that was asked fails a check for a name that its author could not know."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(True for _ in graded(task)) else "no written criteria"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the names that are asked for and those that are graded."""
        said = " ".join(text for _, text in asked(task))
        visible = any(True for _ in shown_criteria(task))
        for pointer, text in graded(task):
            for name, start, end in _names(text):
                if not _mentions(said, name):
                    yield Observation(
                        task_id=task.id,
                        key=task.cluster or task.id,
                        value={"name": name, "visible": visible, "said": said},
                        evidence=(quote(task, pointer, text=sentence_around(text, start, end), note="graded"),),
                    )
        yield Observation(task_id=task.id, key=task.cluster or task.id, value={"name": "", "said": said})

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield the names that nothing before has asked for."""
        said: dict[str, list[str]] = {}
        known: dict[str, set[str]] = {}
        for item in observations:
            name, earlier, seen = item.value["name"], said.setdefault(item.key, []), known.setdefault(item.key, set())
            if not name:
                earlier.append(item.value["said"])
            elif name not in seen and not any(_mentions(text, name) for text in earlier):
                seen.add(name)
                visible = item.value["visible"]
                hit = Hit(
                    claim=f"A criterion wants {name}, "
                    + (
                        "which only the criteria name; the agent reads them"
                        if visible
                        else "which no text asks for and the agent never reads"
                    ),
                    evidence=item.evidence,
                    fix="Ask for it, or grade what is asked for.",
                    severity=Severity.COSMETIC if visible else Severity.AFFECTS_SCORE,
                )
                yield Conclusion(task_ids=(item.task_id,), hit=hit)


def _mentions(text: str, name: str) -> bool:
    if re.search(rf"(?<![\w-]){re.escape(name.lstrip('#'))}(?![\w-])", text):
        return True
    patterns = (r"[\w-]+".join(map(re.escape, _SLOT.split(code))) for code in _CODE.findall(text) if _SLOT.search(code))
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _names(text: str) -> Iterator[tuple[str, int, int]]:
    found: set[str] = set()
    for code in _CODE.finditer(text):
        if _EXAMPLE.search(text[max(0, code.start() - 40) : code.start()]) or _COMMAND.match(code[1]):
            continue
        names = _ELEMENT.findall(code[1]) + _MEMBER.findall(code[1]) + _METHOD.findall(code[1]) + _FILE.findall(code[1])
        for name in names:
            if name not in found:
                found.add(name)
                yield name, *code.span()
