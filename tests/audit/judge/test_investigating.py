import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenthard.audit.evidence import canonical_json, failure, text_at
from agenthard.audit.judge.context.material import Material, Passage
from agenthard.audit.judge.investigation.investigator import ALL_CHARACTERS, Investigator
from agenthard.audit.judge.investigation.results import CHARACTERS, CUT
from agenthard.audit.judge.verdict import Issue, Quote, Verdict
from agenthard.audit.judge.verify.evidence import check_evidence
from agenthard.models.request import Call
from agenthard.taxonomy import AgentTask, EnvironmentSpec, Evidence, GroundTruth, Severity
from tests.builders import LEND, make_task
from tests.library import DESK, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

CHECKS = Passage(label="checks/1", part="checks", title="a finding", text="The gold lends the wrong book.")
MANY = EnvironmentSpec(
    tools=(LEND,),
    policy="Lend at most five books.\n\nMembers who owe fees cannot borrow.\n\nBooks are due after two weeks.",
    state={
        "books": {f"b{n:03}": {"title": f"Book {n}", "shelf": {"room": n % 7}, "text": "x" * 200} for n in range(100)},
        "closed": ["2026-01-01", "2026-12-24"],
        "loans": [{"id": n, "book": f"b{n:03}", "member": "Ada" if n % 2 else "Bea"} for n in range(60)],
        "open": True,
    },
)


def investigator(task: AgentTask) -> Investigator:
    return Investigator(task, Material(task_id=task.id, passages=(CHECKS,)))


def ask(task: AgentTask, name: str, /, **arguments: Any) -> Passage:
    return investigator(task).look_up(Call(id="c", name=name, arguments=json.dumps(arguments)))


def library(**changes: Any) -> AgentTask:
    return make_task(environment=MANY, **changes)


def stands(task: AgentTask, passage: Passage, words: str) -> bool:
    """Whether the gate would take these words of the passage for evidence about the task."""
    assert passage.pointer is not None and words in passage.text
    return failure(Evidence(task_id=task.id, pointer=passage.pointer, quote=words), task, {}) is None


def test_tools_are_those_that_can_find_anything_out() -> None:
    def names(task: AgentTask) -> set[str]:
        return {tool.name for tool in investigator(task).tools()}

    read = {"look_up", "search_policy"}
    assert names(make_task(environment=EnvironmentSpec())) == read
    assert names(library()) == read | {"search_state", "validate_call"}
    assert names(desk_task(lend())) == read | {"search_state", "validate_call", "replay_gold", "try_call"}
    assert names(desk_task()) == read | {"search_state", "validate_call", "try_call"}
    assert names(desk_task(lend(), subtask="returns")) == read | {"search_state", "validate_call"}
    assert names(desk_task(call("break_down"))) == read | {"search_state", "validate_call", "try_call"}


@pytest.mark.parametrize(
    ("at", "pointer"),
    [
        ("/environment/state/books/b007", "/environment/state/books/b007"),
        ("books/b007", "/environment/state/books/b007"),
        ("b007", "/environment/state/books/b007"),
        (" /books/b007/ ", "/environment/state/books/b007"),
        ("/environment/state/books/b007#1", "/environment/state/books/b007"),
        ("/environment/policy", "/environment/policy"),
        ("loans/3", "/environment/state/loans/3"),
        ("Ada", "/initial_state/members/Ada"),
    ],
)
def test_a_place_is_found_however_it_is_named(at: str, pointer: str) -> None:
    task = library(initial_state={"members": {"Ada": {"owes": 3}}})
    found = ask(task, "look_up", at=at)
    assert (found.label, found.pointer, found.text) == ("lookup/1", pointer, text_at(task, pointer))


def test_what_is_no_part_of_the_task_is_read_by_its_label() -> None:
    assert ask(library(), "look_up", at="checks/1").text == CHECKS.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"at": "books/b0"}, "no 'b0' at /environment/state/books, which has 100 members; the likest: b0"),
        ({"at": "/metadata/answer"}, "no 'metadata'"),
        ({"at": "/metadata"}, "no record is called '/metadata'; search_state finds"),
        ({"at": "/environment/nothing"}, "which has 5 members"),
        ({"at": "loans/77"}, "a list of 60"),
        ({"at": "open/x"}, "not an object but True"),
        ({"at": "Ada"}, "stands at 2 places: /initial_state/members/Ada, /initial_state/staff/Ada"),
        ({"at": "books", "offset": 100}, "behind the last of 100"),
        ({"at": "/environment/policy", "offset": 999}, "behind the end, which is at"),
        ({"at": "books", "where": {"title": "Book 1000"}}, 'for example, "Book 0"'),
        ({"at": "books", "where": {"author": "x"}}, "its fields are shelf, text, title"),
        ({"at": "books", "where": {"title": "Book 3", "shelf/room": 4}}, "together"),
        ({"at": "open", "where": {"title": "x"}}, "no members to choose from"),
        ({"at": 7}, "7 is not of type 'string'"),
        ({"table": "books"}, "'table' was unexpected"),
    ],
)
def test_a_look_up_that_fails_says_why_and_what_there_is(arguments: dict[str, Any], words: str) -> None:
    found = ask(library(initial_state={"members": {"Ada": {}}, "staff": {"Ada": {}}}), "look_up", **arguments)
    assert words in found.text and found.pointer is None


def test_without_a_place_it_lists_the_state() -> None:
    assert ask(library(), "look_up").text.splitlines() == [
        "/environment/state/books: 100 members",
        "/environment/state/closed: 2 members",
        "/environment/state/loans: 60 members",
        "/environment/state/open: true",
    ]
    assert "no state" in ask(make_task(), "look_up").text


def test_members_of_a_table_can_be_quoted() -> None:
    task = library()
    found = ask(task, "look_up", at="loans", where={"member": "ada", "book": "b003"})
    assert "1 of the members of /environment/state/loans" in found.title
    assert found.text == '{"book": "b003", "id": 3, "member": "Ada"}' and stands(task, found, found.text)
    several = ask(task, "look_up", at="books", where={"shelf.room": "3"})
    entries = several.text.split(",\n")
    assert len(entries) == 14 and all(stands(task, several, entry) for entry in entries)
    # The whole answer, too: but for the line breaks it is the canonical JSON of neighbours.
    both = ask(task, "look_up", at="/environment/state/closed")
    assert stands(task, both, canonical_json(MANY.state["closed"]))


def test_long_lists_come_page_by_page() -> None:
    task, offset, seen = library(), 0, []
    while offset < 100:
        found = ask(task, "look_up", at="books", offset=offset)
        assert len(found.text) <= CHARACTERS
        entries = found.text.split(",\n")
        assert f"entries {offset} to {offset + len(entries) - 1} of 100" in found.title
        seen += [entry.partition(":")[0].strip('"') for entry in entries]
        offset += len(entries)
    assert seen == sorted(MANY.state["books"])


def test_long_texts_come_piece_by_piece() -> None:
    policy = "".join(f"Rule {n}. " for n in range(2_000))
    task = make_task(environment=EnvironmentSpec(policy=policy))
    first = ask(task, "look_up", at="/environment/policy")
    second = ask(task, "look_up", at="/environment/policy", offset=CHARACTERS)
    assert policy.startswith(first.text + second.text) and f"offset {CHARACTERS}" in first.title


def test_one_huge_record_is_cut() -> None:
    task = make_task(environment=EnvironmentSpec(state={"notes": {"a": "y" * 9_000, "b": "z"}}))
    found = ask(task, "look_up", at="notes")
    assert CUT in found.text and found.text.endswith('"b": "z"')


def test_the_state_is_searched() -> None:
    task = library(initial_state={"note": 'Ada said "book 42"', "fees": {"ada": 4.5}})
    lines = ask(task, "search_state", text="BOOK 42").text.splitlines()
    assert lines == [
        '/environment/state/books/b042/title = "Book 42"',
        r'/initial_state/note = "Ada said \"book 42\""',
    ]
    assert "/initial_state/note = " in ask(task, "search_state", text='said "book').text
    assert ask(task, "search_state", text="4.5").text == "/initial_state/fees/ada = 4.5"
    assert ask(task, "search_state", text="true").text == "/environment/state/open = true"
    assert ask(task, "search_state", text="b042").text.startswith('/environment/state/books/b042 = {"shelf"')
    assert "nowhere" in ask(task, "search_state", text="Zoe").text
    assert "entries 30 to" in ask(task, "search_state", text="Book", offset=30).title
    assert "should be non-empty" in ask(task, "search_state", text="").text


def test_texts_are_searched_paragraph_by_paragraph() -> None:
    task = library()
    found = ask(task, "search_policy", text="owe  FEES")
    assert (found.pointer, found.text) == ("/environment/policy", "Members who owe fees cannot borrow.")
    assert stands(task, found, found.text)
    assert "hold all its words" in (words := ask(task, "search_policy", text="borrow members")).title
    assert words.text == found.text
    several = ask(task, "search_policy", text="lend")
    assert several.pointer is None
    assert "[/environment/policy]\nLend at most" in several.text and "[/user/turns/0/0/content]" in several.text
    assert "None of the texts" in ask(task, "search_policy", text="zebra").text


def test_the_gold_is_replayed() -> None:
    task = desk_task(lend(), call("find_book", book="b0"), call("leave_note", text="bye"))
    found = ask(task, "replay_gold", last=2)
    assert "gold calls 1 to 2 of 3" in found.title and found.part == "replay"
    first, second = found.text.split("\n2. ")
    assert first.endswith("[/ground_truth/turns/0/0; changes the state]\n-> lent")
    assert "[/ground_truth/turns/0/1; changes nothing, failed: 'b0']" in second
    assert ask(task, "replay_gold", first=3).text.startswith("3. leave_note")
    changed = ask(task, "replay_gold", last=2, show="state")
    assert changed.text == '/books/b7/lent_to: null -> "ada"'
    assert "numbered 1 to 3" in ask(task, "replay_gold", last=4).text
    assert "numbered 1 to 3" in ask(task, "replay_gold", first=3, last=2).text
    long = desk_task(*(call("leave_note", text=f"{n}" * 450) for n in range(10, 24)))
    assert "to 14, ask for them alone" in ask(long, "replay_gold").title


def test_a_call_is_tried_and_nothing_of_it_lasts() -> None:
    task = desk_task(lend(), lend("b8"))
    task_before = task.model_dump_json()
    tried = ask(task, "try_call", name="lend_book", arguments={"book": "b7", "member": "bea"}, after=1)
    assert "It failed: 'the book is lent to someone else'" in tried.text and "stays as it is" in tried.text
    assert "after 1 gold calls" in tried.title
    fresh = ask(task, "try_call", name="lend_book", arguments={"book": "b7", "member": "bea"}, after=0)
    assert "Response: lent" in fresh.text and '/books/b7/lent_to: null -> "bea"' in fresh.text
    assert ask(task, "try_call", name="find_book", arguments={"book": "b7"}).text.startswith(
        "Response: {'lent_to': None}"
    )
    assert task.model_dump_json() == task_before
    failing = desk_task(lend("b0"), lend())
    assert "that failed: 1" in ask(failing, "try_call", name="find_book", arguments={"book": "b7"}, after=2).text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "__import__", "arguments": {"name": "os"}}, "the agent has no tool '__import__'"),
        ({"name": "find_book", "arguments": {"book": "b7"}, "after": 2}, "the ground truth has 1 calls, not 2"),
        ({"name": "break_down", "arguments": {}}, "The environment failed: the desk broke down"),
        ({"name": "find_book", "arguments": {"__class__": 1}}, "It failed"),
        ({"name": "find_book", "arguments": []}, "[] is not of type 'object'"),
    ],
)
def test_a_call_that_cannot_be_tried(arguments: dict[str, Any], words: str) -> None:
    assert words in ask(desk_task(lend()), "try_call", **arguments).text


def test_milestones_are_not_followed() -> None:
    gold = GroundTruth(semantics="milestones", turns=((lend(),),), call_matching="state")
    task = desk_task(ground_truth=gold)
    assert "after 0 of them" in ask(task, "try_call", name="find_book", arguments={"book": "b7"}, after=1).text
    assert "Response" in ask(task, "try_call", name="find_book", arguments={"book": "b7"}).text


def test_a_call_is_checked_against_the_documentation() -> None:
    task = desk_task()
    good = {"book": "b7", "member": "ada", "kind": "long"}
    assert "keeps to" in ask(task, "validate_call", name="lend_book", arguments=good).text
    wrong = ask(task, "validate_call", name="lend_book", arguments={"book": 7, "kind": "ever", "note": ""}).text
    assert wrong.startswith("The call of 'lend_book' gives 'book' as 7, but the documented type is 'string'.")
    assert all(word in wrong for word in ("allows only", "does not document", "leaves out 'member'"))
    assert "/environment/tools/1/parameters/properties/kind/enum says: " in wrong
    unknown = ask(task, "validate_call", name="lend_boook", arguments={}).text
    assert unknown.startswith("The call names 'lend_boook', which is not among the 7 tools")


def test_look_ups_are_evidence() -> None:
    task = desk_task(lend())
    looking = investigator(task)
    looking.look_up(Call(id="1", name="look_up", arguments='{"at": "b9"}'))
    looking.look_up(Call(id="2", name="replay_gold", arguments="{}"))
    looking.look_up(Call(id="3", name="look_up", arguments='{"at": "No book may be lent."}'))
    assert [passage.label for passage in looking.lookups] == ["lookup/1", "lookup/2", "lookup/3"]
    assert "No book may be lent." in looking.lookups[2].text
    said = Verdict(
        reasoning="",
        outcome="flawed",
        because="",
        issues=(
            Issue(
                category="incorrect-tool-call",
                claim="Book 9 is meant.",
                reasoning_summary="",
                severity=Severity.AFFECTS_SCORE,
                confidence=0.9,
                evidence=(
                    Quote(passage="lookup/1", quote='{"lent_to": "ada"}', shows="Ada has it"),
                    Quote(passage="lookup/2", quote="-> lent", shows="the gold lends"),
                    Quote(passage="/environment/policy", quote="No book may be lent.", shows="words of its own"),
                ),
                fix="",
                patch=(),
            ),
        ),
    )
    [issue] = check_evidence(said, Material(task_id=task.id, passages=()), task, looking.lookups)
    first, second, own = issue.quotes
    assert own.found == "no" and issue.standing == "unverified"
    assert first.evidence is not None and first.evidence.pointer == "/environment/state/books/b9"
    assert (second.found, second.evidence) == ("exact", None)


def test_all_look_ups_together_have_a_limit() -> None:
    looking = investigator(library())
    for _ in range(30):
        last = looking.look_up(Call(id="c", name="look_up", arguments='{"at": "books"}'))
    assert "No room for more" in last.text
    assert sum(len(passage.text) for passage in looking.lookups) < ALL_CHARACTERS + 30 * 200


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("look_up", '{"at": "books/b', "not a JSON object"),
        ("look_up", "", "/environment/state/books: 100 members"),
        ("look_up", "[1]", "not a JSON object but list"),
        ("look_up", '{"offset": NaN}', "NaN is not valid JSON"),
        ("look_up", "[" * 19_000, "not a JSON object"),
        ("look_up", '{"at": "' + "x" * 30_000, "20,000 are the most"),
        ("look_up", r'{"at": "\ud800"}', "half a character"),
        ("look_up", '{"offset": -1}', "less than the minimum"),
        ("replay_gold", "{}", "No tool of this name here. There are look_up,"),
        ("rm -rf /", "{}", "No tool of this name"),
        ("", "", "No tool of this name"),
    ],
)
def test_whatever_a_model_writes_is_answered(name: str, arguments: str, words: str) -> None:
    found = investigator(library()).look_up(Call(id="c", name=name, arguments=arguments))
    assert words in found.text
    assert "\n" not in found.title and len(found.title) < 500


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_NAMES = st.sampled_from(["look_up", "search_state", "search_policy", "replay_gold", "try_call", "validate_call"])
_ARGUMENTS = st.dictionaries(
    st.sampled_from(["at", "where", "offset", "text", "name", "arguments", "after", "first", "last", "show"]), _JSON
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_NAMES, _ARGUMENTS.map(json.dumps) | st.text())
def test_no_arguments_break_it(name: str, arguments: str) -> None:
    found = investigator(desk_task(lend())).look_up(Call(id="c", name=name, arguments=arguments))
    assert found.text and found.text.encode() and found.title.encode()


def test_a_state_that_is_too_deep_is_no_crash() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"in": deep}
    task = make_task(environment=EnvironmentSpec(state={"deep": deep}))
    assert ask(task, "look_up", at="deep").text
    assert ask(task, "search_state", text="x").text


def test_the_shared_state_stays_as_it_is() -> None:
    before = canonical_json(DESK.state)
    task = desk_task(lend())
    for show in ("state", "responses"):
        ask(task, "replay_gold", show=show)
    assert canonical_json(DESK.state) == before
