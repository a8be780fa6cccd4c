"""The page on rules: it lists every rule with its sentences, and the example on it works."""

import re
from pathlib import Path
from typing import Any

from agenthard.audit.execution.environment import Attempt, Environment, ToolResponse, Verdict
from agenthard.audit.execution.policy import CannotTell, Outcome, RuleBook, RuleViolation, check_calls
from agenthard.audit.execution.policy.checker import rule_books
from agenthard.taxonomy import AgentTask, EnvironmentSpec, ToolCall
from tests.builders import make_task

PAGE = (Path(__file__).parents[4] / "docs" / "policy-rules.md").read_text(encoding="utf-8")


class Library(Environment):
    """A library that lends books."""

    name = "library"

    def version(self) -> str:
        return "1"

    def supports(self, task: AgentTask) -> str | None:
        return None

    def reset(self, task: AgentTask) -> None:
        self.members: dict[str, Any] = {key: dict(value) for key, value in task.environment.state["members"].items()}

    def call(self, call: ToolCall) -> ToolResponse:
        member = self.members[call.arguments["member"]]
        member["books"] = [*member["books"], call.arguments["book_id"]]
        return ToolResponse(text="lent")

    def snapshot(self) -> Any:
        return {"members": {key: dict(value) for key, value in self.members.items()}}

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        return Verdict(passed=True)


def test_every_rule_is_listed_with_its_sentences() -> None:
    rules = [rule for book in rule_books() for rule in book.rules]
    listed = re.findall(r"^### (.+)\n(.+?) Looks at (.+)\.$", PAGE, re.MULTILINE)
    assert listed == [(rule.id, rule.title, ", ".join(f"`{tool}`" for tool in sorted(rule.tools))) for rule in rules]
    for rule in rules:
        assert all(f"> {sentence}\n" in PAGE for wording in rule.wordings for sentence in wording), rule.id


def outcomes(
    book: RuleBook, member: str, books: int, policy: str = "Lend at most five books to a member."
) -> list[Outcome]:
    members = {"Ada": {"books": [*range(4)]}, "Guest": {"books": [], "guest": True}}
    calls = tuple(ToolCall(name="lend_book", arguments={"book_id": 7 + i, "member": member}) for i in range(books))
    base = make_task(environment=EnvironmentSpec(policy=policy, state={"members": members}))
    task = base.model_copy(update={"ground_truth": base.ground_truth.model_copy(update={"turns": (calls,)})})
    return [item.outcome for step in check_calls(task, Library(), book.rules) for item in step.judgements]


def test_the_example_works() -> None:
    [example] = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # our own page
    book = names["BOOK"]
    first, second = outcomes(book, "Ada", 2)
    assert first is None
    assert isinstance(second, RuleViolation) and [fact.quote for fact in second.facts] == ["8"]
    assert isinstance(outcomes(book, "Guest", 1)[0], CannotTell)
    assert outcomes(book, "Ada", 2, policy="Lend as you like.") == []
