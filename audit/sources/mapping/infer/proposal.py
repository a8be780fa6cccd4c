"""A proposed mapping, with the reasons for each choice and what is open."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantined
from agenthard.audit.sources.mapping.infer.questions import Question
from agenthard.audit.sources.mapping.infer.understood import Understood


@dataclass
class Proposal:
    """A proposed mapping."""

    mapping: dict[str, Any]
    """The mapping as YAML would be read."""
    comments: dict[str, str]
    """The reason for each choice, by dotted key."""
    unsure: list[str]
    """What a person has to check."""
    folder: Path
    """Folder to which its files are relative."""
    url: str = ""
    """The same as a URL, where they were fetched from one."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """What a person has answered, by key of the mapping."""
    questions: list[Question] = field(default_factory=list)
    """What a person can answer."""
    understood: Understood = field(default_factory=Understood)
    """What the rows become under it."""
    refused: list[Quarantined] = field(default_factory=list)
    """What did not parse."""

    def facts(self) -> dict[str, Any]:
        """Return the proposal as JSON."""
        understood = asdict(self.understood)
        return {"mapping": self.mapping, "comments": self.comments, "unsure": self.unsure, **understood}

    def settle(self, question: Question) -> Any:
        """Return the answer to a question; without one, note the question and return what is proposed."""
        if question.key in self.answers:
            return self.answers[question.key]
        self.questions.append(question)
        if question.told:
            self.unsure.append(question.told)
        return question.candidates[0].value
