"""Steps of a series that read a file which no earlier step mentions."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_STEP = re.compile(r"(?:^|/)(?:sub ?task|step|stage|part|phase)[ _-]?(?P<number>\d{1,2})$", re.IGNORECASE)
_NAME = r"(?:[\w.-]+/)*[\w-]+\.(?:jsonl?|csv|tsv|txt|md|ya?ml|parquet|xlsx|pkl|npz|db|sqlite)\b"
_READS = re.compile(
    rf"\b(?:read|load|parse|open)(?:s|ing)? (?:in )?(?:the )?(?:file )?[`'\"]?(?P<path>{_NAME})", re.IGNORECASE
)
_FILE = re.compile(_NAME, re.IGNORECASE)


class UnwrittenFile(SuiteDetector):
    """A step that continues earlier ones reads files that an earlier step, or its own text, speaks of.

    Rule: the tasks are numbered steps of one series, a later one is told to read or load a file by its name, the name
    is nowhere else in the task, and no earlier step names it, although earlier steps name files.

    Flagged: "Read workspace/web_sources.json" in the second step, where the first one saves `web_info.json`.
    Not flagged: a file that the same step writes first; the first step, whose files the workspace may hold; a series
    whose earlier steps name no file.

    Wrong where the workspace comes with the file.
    """

    id = "unwritten-file"
    title = "a step reads a file that no earlier step mentions"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "The agent finds no such file, and has to guess which one is meant."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only steps of a series can be compared."""
        return None if task.cluster is not None and _STEP.search(task.id) else "the task is not a step of a series"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note which files a step names, and which it reads and does not name again."""
        step = _STEP.search(task.id)
        texts = list(task.user_texts())
        named = [_base(match[0]) for _, text in texts for match in _FILE.finditer(text)]
        read = [(at, text, match) for at, text in texts for match in _READS.finditer(text)]
        once = [item for item in read if named.count(_base(item[2]["path"])) == 1]
        yield Observation(
            task_id=task.id,
            key=str(task.cluster),
            value={
                "step": int(step["number"]) if step else 0,
                "named": sorted(set(named)),
                "read": [_base(match["path"]) for _, _, match in once],
            },
            evidence=tuple(
                quote(task, at, text=sentence_around(text, *match.span()), note="what it reads")
                for at, text, match in once
            ),
        )

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion]:
        """Yield one hit per file that no earlier step names."""
        series: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            series[observation.key].append(observation)
        for steps in series.values():
            for one in steps:
                earlier = [other for other in steps if other.value["step"] < one.value["step"]]
                known = {name for other in earlier for name in other.value["named"]}
                for name, evidence in zip(one.value["read"], one.evidence, strict=True):
                    if known and name not in known:
                        yield Conclusion(
                            task_ids=(one.task_id,),
                            hit=Hit(
                                claim=f"The step reads {name!r}, which no earlier step names; they name "
                                f"{', '.join(sorted(known)[:6])}.",
                                evidence=(evidence,),
                                fix="Name the file that an earlier step writes.",
                            ),
                        )


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1].casefold()
