"""Check: required outputs that name something which does not exist."""

import re
from collections.abc import Iterator

from audit.detectors.base import Hit, TaskDetector
from audit.detectors.ground_truth.dates import parse_date
from audit.detectors.ground_truth.knowledge import Knowledge
from audit.evidence import quote
from taxonomy.finding import Severity, Tier
from taxonomy.task import AgentTask

_IDENTIFIER = re.compile(r"#?(?:\d{7,}|(?=\w*[A-Za-z])(?=\w*\d\w*\d)\w{6,}|[\w.+-]+@[\w-]+\.[\w.-]*\w)")


class UnknownOutput(TaskDetector):
    """An identifier that the agent's reply has to contain stands somewhere in the task.

    Looked at are required outputs that are an identifier, a number of seven digits or more, or an e-mail address, in
    tasks whose database is part of the files. It has to stand in the database, in the user's texts, in a policy, in the
    documentation of a tool or in a gold call. Amounts are left out: sums and differences of the many prices of a
    database reach almost any amount, so nothing can be said about them.

    Flagged: the output "286422338955" where no order has that tracking number. Not flagged: "1093.34"; "polyester".

    Wrong where a tool makes the identifier up at run time.
    """

    id = "unknown-output"
    title = "Required outputs that do not exist"
    version = "1"
    category = "wrong-expected-output"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "No run can say what no text, no tool and no record tells it, so every run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only required outputs beside a database can be checked."""
        if not task.ground_truth.outputs:
            return "no output is required"
        return "no database is part of the files" if task.environment.state is None else None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per output that stands nowhere."""
        knowledge = Knowledge(task)
        given = " ".join(str(call.arguments) for _, call in task.gold_calls())
        for i, output in enumerate(task.ground_truth.outputs):
            text = output.strip()
            if _IDENTIFIER.fullmatch(text) and not parse_date(text) and not knowledge.holds(text) and text not in given:
                yield Hit(
                    claim=f"A reply has to contain {text!r}, which stands nowhere in the task.",
                    evidence=(quote(task, f"/ground_truth/outputs/{i}", note="the required output"),),
                    fix="Use the identifier that the database holds.",
                )
