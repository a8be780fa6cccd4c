"""The evidence gate: quotes of the library desk's tasks, found, garbled and invented."""

import pytest

from agenthard.audit.evidence import failure
from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verify.evidence import check_evidence
from agenthard.taxonomy import EnvironmentSpec
from tests.audit.judge.saying import call_at, flawed, gated, says
from tests.builders import LEND, make_task
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
WANTS = "Lend b7 to Ada — “the long way”.\nThen leave a note: back on 3 May."
TASK = desk_task(
    lend("b7", "bea"), call("leave_note", text="back on 3 May"), says=WANTS, outputs=("see you in May",), cluster="c"
)
WRONG = ("incorrect-tool-call", "The gold lends the book to Bea.")
GOLD = (call_at(0), '"member": "bea"')


@pytest.mark.parametrize(
    ("label", "words", "found", "stands"),
    [
        (SAID, "Lend b7 to Ada", "exact", "Lend b7 to Ada"),
        (SAID, 'to Ada - "the long way". Then leave', "normalised", "to Ada — “the long way”.\nThen leave"),
        (f"`{SAID}`", "Lend b7 to Ada", "exact", "Lend b7 to Ada"),
        (f"{call_at(0)}/arguments/book", '"book": "b7"', "exact", '"book": "b7"'),
        (call_at(0), '"book":"b7", "kind" : "short"', "normalised", '"book": "b7", "kind": "short"'),
        ("/environment/policy", "Lend b7 to Ada", "elsewhere", "Lend b7 to Ada"),
        ("no such label", "Lend b7 to Ada", "elsewhere", "Lend b7 to Ada"),
        (call_at(0), "the long way", "elsewhere", "the long way"),
        (SAID, "Lend b8 to Ada", "no", None),
        (SAID, "lend B7 to ada", "no", None),
        ("replay/1", "response: lent", "exact", None),
        (call_at(0), "back on 3 May", "no", None),  # stands in the user's text, in another call and in its replay
    ],
)
def test_where_a_quote_is_found(label: str, words: str, found: str, stands: str | None) -> None:
    [first, second] = gated(TASK, says(*WRONG, (label, words), GOLD)).quotes
    assert (first.found, second.found) == (found, "exact")
    assert first.passage == label
    assert (first.evidence.quote if first.evidence else None) == stands
    if first.evidence:
        assert failure(first.evidence, TASK, {}) is None
        assert first.evidence.note == "see there"


def test_a_quote_of_a_tools_description_is_of_its_documentation() -> None:
    said = LEND.model_copy(update={"description": "Lends a book for ever."})
    task = make_task(environment=EnvironmentSpec(tools=(said,)))
    for label in ("/environment/tools/0/description", "/environment/tools/0"):
        issue = gated(task, says("misleading-tool-design", "It is for a while.", (label, "for ever")))
        assert (issue.standing, issue.reason) == ("verified", "")


def test_both_sides_of_a_contradiction() -> None:
    issue = gated(TASK, says(*WRONG, (SAID, "Lend b7 to Ada"), GOLD))
    assert (issue.standing, issue.reason) == ("verified", "")
    assert [quote.evidence.pointer for quote in issue.quotes if quote.evidence] == [SAID, call_at(0)]


@pytest.mark.parametrize(
    ("category", "evidence", "reason"),
    [
        ("incorrect-tool-call", (), "it quotes nothing"),
        ("incorrect-tool-call", (GOLD,), "only one side of the contradiction is quoted"),
        ("incorrect-tool-call", (GOLD, GOLD), "only one side of the contradiction is quoted"),
        ("incorrect-tool-call", (GOLD, (call_at(0), '"bea"')), "only one side of the contradiction is quoted"),
        ("incorrect-tool-call", ((SAID, "Lend b7"), (SAID, "to Ada")), "no quote is of the ground truth"),
        ("redundant-tool-call", ((SAID, "Lend b7"),), "no quote is of the ground truth"),
        ("redundant-tool-call", (("replay/1", "response: lent"),), "it quotes nothing of the task itself"),
        ("ambiguous-instruction", (GOLD,), "no quote is of the user's text"),
        (
            "incorrect-tool-call",
            (GOLD, (SAID, "Lend b8")),
            f"the quote 'Lend b8' was found not in {SAID} nor elsewhere",
        ),
        ("incorrect-tool-call", (GOLD, (SAID, "—")), "the quote '—' is too short, or too long, to prove anything"),
        (
            "incorrect-tool-call",
            (GOLD, ("/nowhere", "back on 3 May")),
            "the quote 'back on 3 May' was found not in the unknown passage '/nowhere', but in 3 other passages",
        ),
    ],
)
def test_what_leaves_an_issue_unverified(category: str, evidence: tuple[tuple[str, str], ...], reason: str) -> None:
    issue = gated(TASK, says(category, "Something is wrong.", *evidence))
    assert (issue.standing, issue.reason) == ("unverified", reason)
    assert len(issue.quotes) == len(evidence)


@pytest.mark.parametrize(
    "evidence", [(GOLD, (call_at(1), "leave_note")), (GOLD, (call_at(0), "lend_book")), (GOLD, ("replay/1", "lent"))]
)
def test_a_ground_truth_can_contradict_itself_or_its_replay(evidence: tuple[tuple[str, str], ...]) -> None:
    assert gated(TASK, says(*WRONG, *evidence)).standing == "verified"


def test_a_whole_passage_may_be_short() -> None:
    idle = desk_task(says=WANTS, outputs=("5",))
    missing = says("incorrect-tool-call", "Nothing is lent.", (SAID, "Lend b7"), ("/ground_truth/turns/0", "[]"))
    assert gated(idle, missing).standing == "verified"
    total = says("wrong-expected-output", "It is 7.", (SAID, "back on 3 May"), ("/ground_truth/outputs/0", "5"))
    assert gated(idle, total).standing == "verified"
    other = says("wrong-expected-output", "It is 7.", (SAID, "back on 3 May"), ("/ground_truth/outputs/1", "5"))
    assert gated(idle, other).standing == "unverified"


def test_what_is_missing_cannot_be_quoted() -> None:
    empty = desk_task(says=WANTS)
    assert gated(empty, says("incorrect-tool-call", "Nothing is lent.", (SAID, "Lend b7"))).standing == "verified"


def test_a_category_without_a_rule_of_its_own_needs_one_quote() -> None:
    assert gated(TASK, says("environment-drift", "It depends on the day.", (SAID, "3 May"))).standing == "verified"


def test_lookups_are_passages_too() -> None:
    seen = Passage(label="lookup/1", part="state", title="b7", text="b7 is lent to nobody")
    issue = gated(TASK, says(*WRONG, ("lookup/1", "lent to nobody"), GOLD), seen)
    assert issue.standing == "verified"
    assert issue.quotes[0].evidence is None
    there = seen.model_copy(update={"text": '{"lent_to": null}', "pointer": "/environment/state/books/b7"})
    [first, _] = gated(TASK, says(*WRONG, ("lookup/1", '{"lent_to":null}'), GOLD), there).quotes
    assert first.evidence and failure(first.evidence, TASK, {}) is None


def test_a_passage_that_no_longer_stands_in_the_task_proves_nothing() -> None:
    material = gather(TASK)
    changed = TASK.model_copy(update={"user": desk_task(says="Help me.").user})
    [issue] = check_evidence(flawed(says(*WRONG, (SAID, "Lend b7 to Ada"), GOLD)), material, changed)
    assert (issue.standing, issue.quotes[0].found) == ("unverified", "no")


def test_words_in_a_part_and_in_the_whole_around_it_stand_in_one_place() -> None:
    whole = Passage(label="all", part="user", title="all", text=f"[{WANTS}]", pointer="/user/turns/0")
    inner = gated(TASK, says(*WRONG, ("nowhere", "Lend b7 to Ada"), GOLD), whole)
    assert inner.quotes[0].evidence and inner.quotes[0].evidence.pointer == SAID
    twice = gated(TASK, says(*WRONG, ("nowhere", "see you in May"), GOLD))
    assert twice.quotes[0].found == "no", "a required output, and the check that requires it"
