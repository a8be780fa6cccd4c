from typing import Any

import pytest

from agenthard.audit.execution.policy import checker
from agenthard.audit.plugins import Plugin, PluginError
from tests.audit.execution.policy.conftest import airline_tables, make_task


@pytest.fixture(autouse=True)
def forget() -> Any:
    checker.rule_books.cache_clear()
    yield
    checker.rule_books.cache_clear()


def offer(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    offered = {checker.GROUP: (Plugin("mine", value, "mine"),)}
    monkeypatch.setattr(checker, "installed_plugins", lambda group: offered[group])


def test_ids_are_unique_in_a_domain() -> None:
    for domain in ("airline", "retail"):
        ids = [rule.id for book in checker.rule_books() if book.domain == domain for rule in book.rules]
        assert len(ids) == len(set(ids)) >= 17


def test_a_task_of_a_split_has_the_rules_of_its_domain() -> None:
    task = make_task("airline", airline_tables(), [])
    assert checker.rules_for(task.model_copy(update={"subtask": "airline-dev"})) == checker.rules_for(task) != []
    assert checker.rules_for(task.model_copy(update={"subtask": "railway"})) == []


def test_a_book_of_another_package_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = len(checker.rule_books())
    checker.rule_books.cache_clear()
    offer(monkeypatch, "agenthard.audit.execution.policy.airline.booking:BOOK")
    assert [book.domain for book in checker.rule_books()[ours:]] == ["airline"]


def test_something_that_is_no_book_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "agenthard.audit.execution.policy.airline.booking:BAG")
    with pytest.raises(PluginError, match="not a RuleBook"):
        checker.rule_books()
