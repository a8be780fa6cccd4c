import pytest

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.policy import CannotTell, Outcome, PolicyCase, RuleBook, RuleViolation, check_calls
from agenthard.audit.execution.policy.rule import find
from agenthard.audit.execution.tau import Tau2Environment
from agenthard.taxonomy import ToolCall
from agenthard.taxonomy.accepted import any_of
from tests.audit.execution.policy.conftest import airline_tables, call, make_task

SENTENCE = "Nobody is   told a name."


def book_of(sentences: tuple[str | tuple[str, ...], ...] = (SENTENCE,)) -> RuleBook:
    book = RuleBook("airline")

    @book.rule("no-names", tools=("get_user_details",), sentences=sentences)
    def no_names(case: PolicyCase) -> Outcome:
        """Nobody is told a name."""
        return RuleViolation(claim=f"It looks at {case.record('users', case.arguments['user_id'])['user_id']}.")

    return book


def test_a_sentence_is_found_whatever_the_white_space() -> None:
    assert find("at most  five books", "Lend at\n  most five books.") == "at\n  most five books"
    assert find("at most five books", "Lend at most six books.") is None


def test_the_first_wording_that_is_there_in_full_is_cited() -> None:
    [rule] = book_of((("One.", "Two."), "Three.")).rules
    assert rule.cited("Two. One.") == ("One.", "Two.")
    assert rule.cited("One. Three.") == ("Three.",)
    assert rule.cited("One.") == ()


def test_a_rule_must_cite_something_and_have_an_id_of_its_own() -> None:
    with pytest.raises(ValueError, match="no-names"):
        book_of(())
    book = book_of()
    with pytest.raises(ValueError, match="no-names"):
        book.rule("no-names", tools=("think",), sentences=("x",))


def test_a_rule_says_nothing_where_the_policy_does_not_say_so() -> None:
    calls = [call("get_user_details", user_id="ann")]
    for text, count in (("Nobody is\ntold a name.", 1), ("Nobody is told a date.", 0)):
        [step] = check_calls(
            make_task("airline", airline_tables(), calls, rules=text), Tau2Environment(), book_of().rules
        )
        assert len(step.judgements) == count


def test_a_rule_that_misses_something_cannot_tell() -> None:
    calls = [call("get_user_details", user_id="nobody"), call("get_user_details"), call("list_all_airports")]
    task = make_task("airline", airline_tables(), calls, rules=SENTENCE)
    unknown, malformed, other = check_calls(task, Tau2Environment(), book_of().rules)
    assert isinstance(unknown.judgements[0].outcome, CannotTell) and unknown.refused
    assert "'nobody' among the users" in unknown.judgements[0].outcome.reason
    assert isinstance(malformed.judgements[0].outcome, CannotTell)
    assert other.judgements == () and other.refused is None


def test_only_calls_of_the_agent_are_looked_at_with_the_first_accepted_value() -> None:
    own = ToolCall(name="get_user_details", arguments={"user_id": any_of(["gil", "ann"])})
    users = own.model_copy(update={"requestor": "user"})
    task = make_task("airline", airline_tables(), [own, users], rules=SENTENCE)
    first, second = check_calls(task, Tau2Environment(), book_of().rules)
    assert [item.outcome for item in first.judgements] == [RuleViolation(claim="It looks at gil.")]
    assert second.judgements == ()


def test_a_task_that_cannot_be_executed() -> None:
    with pytest.raises(UnavailableError):
        list(check_calls(make_task("airline", {}, [call("think")]), Tau2Environment(), []))
