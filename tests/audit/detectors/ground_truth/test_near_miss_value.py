import time
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import NearMissValue
from agenthard.audit.evidence import failure
from agenthard.taxonomy import (
    AgentTask,
    EnvironmentSpec,
    GroundTruth,
    Message,
    Severity,
    Tier,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

TOOLS = (ToolSpec(name="write", effect="write"), ToolSpec(name="look", effect="read"))


def task(said: str, arguments: dict[str, Any], *, state: Any = None, name: str = "write", **changes: Any) -> AgentTask:
    truth = GroundTruth(
        semantics="required",
        turns=((ToolCall(name=name, arguments=arguments),),),
        call_matching="exact" if state is None else "state",
    )
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=TOOLS, state=state),
        ground_truth=truth,
        **changes,
    )


def hits(subject: AgentTask) -> list[Hit]:
    found = list(NearMissValue().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_a_file_name_a_letter_off() -> None:
    [hit] = hits(task("Call it 'minutes.txt'.", {"file": "minute.txt"}))
    assert hit.tier is Tier.CONFIRMED and hit.severity is Severity.AFFECTS_SCORE
    assert [item.quote for item in hit.evidence] == ["minute.txt", "minutes.txt"]


@pytest.mark.parametrize("mark", [".", ",", "?"])
def test_a_file_name_with_the_mark_of_its_sentence(mark: str) -> None:
    subject = task(f"Write a new file called minutes.txt{mark} Keep it short.", {"file": f"minutes.txt{mark}"})
    made = ToolCall(name="write", arguments={"new": "minutes.txt"})
    turns = ((made, *subject.ground_truth.turns[0]),)
    [hit] = hits(subject.model_copy(update={"ground_truth": subject.ground_truth.model_copy(update={"turns": turns})}))
    assert hit.tier is Tier.CONFIRMED and [item.quote for item in hit.evidence] == [f"minutes.txt{mark}", "minutes.txt"]
    assert not hits(subject), "no other call tells what the name is"


def test_a_file_name_of_the_state_a_letter_off_is_suspected() -> None:
    subject = task("Open the minutes.", {"file": "minuts.txt"}, initial_state={"root": {"minutes.txt": "..."}})
    [hit] = hits(subject)
    assert hit.tier is None and hit.evidence[1].pointer == "/initial_state/root"


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("Call it minutes.txt.", "minutes.txt"),
        ("Call it minutes.txt.", "Minutes.TXT"),
        ("Copy part1.txt.", "part2.txt"),
        ("Call it minutes.txt.", "summary.txt"),
        ("Call it minutes.txt.", "minutes.pdf"),
        ("Call it minutes.txt.", any_of(["minute.txt", "minutes.txt"])),
        ("Call it minutes.txt.", any_of(["minute.txt"], optional=True)),
        ("The minutes.", "minute.txt"),
    ],
)
def test_file_names_that_are_right_or_other_files(said: str, file: Any) -> None:
    assert hits(task(said, {"file": file})) == []


def test_a_quotation_with_one_word_changed() -> None:
    [hit] = hits(task("Post 'Doors open at the usual hour'.", {"text": "Doors open at usual hour"}))
    assert hit.severity is Severity.MAY_AFFECT_SCORE and hit.tier is None
    [hit] = hits(task('Post "Doors closed for the holiday".', {"text": "Door closed for the holiday"}))
    assert hit.evidence[1].quote == "Doors closed for the holiday"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Post 'Doors open at X hours'.", "Doors open at nine hours"),
        ("Post 'Doors open at 8 today'.", "Doors open at 9 today"),
        ("Post 'Doors open'.", "Door open"),
        ("Post that doors open at the usual hour.", "Doors open at usual hour"),
        ("Post 'Doors open at the usual hour'.", "doors open at the usual hour!"),
        ("Post 'Doors open at the usual hour'.", "We open at nine as usual"),
    ],
)
def test_templates_short_or_free_texts_are_clean(said: str, text: str) -> None:
    assert hits(task(said, {"text": text})) == []


def test_words_of_the_language_may_change() -> None:
    for said, word in (("German history", "Germany"), ("the woman's team", "women"), ("in Chcago", "Chicago")):
        assert hits(task(said, {"query": word})) == []


DATABASE = {
    "members": {
        "ada_1815": {
            "name": {"first_name": "Ada", "last_name": "King"},
            "dob": "1815-12-10",
            "family": [{"first_name": "Ralph", "last_name": "King", "dob": "1839-07-02"}],
        }
    },
    "loans": {"L20001": {"member": "ada_1815"}},
}


def test_an_identifier_one_character_off_in_a_closed_world() -> None:
    said = "It is about loan L20001."
    [hit] = hits(task(said, {"loan": "L20007"}, state=DATABASE))
    assert [item.quote for item in hit.evidence] == ["L20007", "L20001"]
    assert hits(task(said, {"loan": "L20007"})) == []
    assert hits(task(said, {"loan": "L20007"}, state={"loans": {"L20007": {}}})) == []
    assert hits(task(said, {"loan": "L29997"}, state=DATABASE)) == []


def test_only_the_state_is_scored_so_a_wrong_read_may_matter() -> None:
    [hit] = hits(task("It is about loan L20001.", {"loan": "L20007"}, state=DATABASE, name="look"))
    assert hit.severity is Severity.MAY_AFFECT_SCORE


@pytest.mark.parametrize("date", ["20023-04-2", "2023-02-30", "13/13/2023", "0-4-2023"])
def test_a_date_that_is_none(date: str) -> None:
    [hit] = hits(task("When?", {"due_date": date}))
    assert hit.tier is Tier.CONFIRMED and "is not a date" in hit.claim


@pytest.mark.parametrize("date", ["2023-04-02", "31/12/2023", "12/31/23", "2024-02-29", "tomorrow", "April 2"])
def test_dates_and_other_texts_are_clean(date: str) -> None:
    assert hits(task("When?", {"due_date": date})) == []
    assert hits(task("When?", {"version": "20023-04-2"})) == []
    assert hits(task("When?", {"due_date": any_of(["20023-04-2", date])})) == []


def person(first: str, last: str, born: str, **reference: str) -> dict[str, Any]:
    reference = reference or {"member": "ada_1815"}
    return {**reference, "guests": [{"first_name": first, "last_name": last, "dob": born}]}


def test_a_date_of_birth_that_the_record_contradicts() -> None:
    [hit] = hits(task("Book for me.", person("Ada", "King", "1816-12-10"), state=DATABASE))
    assert hit.tier is Tier.CONFIRMED
    assert hit.evidence[2].pointer == "/environment/state/members/ada_1815/dob"


def test_records_are_followed_by_reference() -> None:
    found = hits(task("Book for Ralph.", person("Ralph", "King", "1840-07-02", loan="L20001"), state=DATABASE))
    assert [hit.tier for hit in found] == [Tier.CONFIRMED]


def test_half_a_name_with_the_date_of_birth_of_another() -> None:
    [hit] = hits(task("Book for Robin.", person("Robin", "King", "1839-07-02"), state=DATABASE))
    assert hit.tier is Tier.SUSPECTED and "Ralph King" in hit.claim


@pytest.mark.parametrize(
    ("said", "guest"),
    [
        ("Book for me.", person("Ada", "King", "1815-12-10")),
        ("Book for Ada, born in 1816.", person("Ada", "King", "1816-12-10")),
        ("Rename Ralph to Robin.", person("Robin", "King", "1839-07-02")),
        ("Book for a friend.", person("Grace", "Hopper", "1906-12-09")),
        ("Book for me.", person("Ada", "King", "1816-12-10", member="unknown")),
    ],
)
def test_people_who_agree_are_renamed_or_unknown(said: str, guest: dict[str, Any]) -> None:
    assert hits(task(said, guest, state=DATABASE)) == []


def test_variants_of_a_base_task_share_one_cause() -> None:
    causes = {hits(task("Call it minutes.txt.", {"file": "minute.txt"}, cluster="base/3"))[0].cause for _ in "ab"}
    assert len(causes) == 1 and None not in causes


def test_a_task_without_gold_calls_is_not_checked() -> None:
    assert NearMissValue().not_applicable(make_task(ground_truth=GroundTruth(semantics="none"))) is not None


@pytest.mark.parametrize(
    ("said", "value", "meant", "patched"),
    [
        ("Print image.png.", "imagepng", "image.png", True),
        ("The code is 1234.", 12334, "1234", False),
        ("The code is KX-40117.", "KX-40171", "KX-40117", False),
        ("Write to ada@quay.example.", "ada@quayexample", "ada@quay.example", True),
    ],
)
def test_a_slip_of_the_keyboard(said: str, value: Any, meant: str, patched: bool) -> None:
    [hit] = hits(task(said, {"what": value}))
    assert hit.evidence[1].quote == meant and bool(hit.patch) is patched


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("The code is 1234.", 1235),
        ("It weighs 1200 g.", 12000),
        ("Add 1500 and 10500.", 12000),
        ("It is P followed by 12345678.", "P12345678"),
        ("The codes are 1234 and 1233.", 12334),
        ("The code is 1234, not 12334.", 12334),
        ("The code is 1234.", any_of([1234, 12334])),
        ("The password is Jessie90#new.", "Jessie90#"),
    ],
)
def test_other_values_and_conventions_are_no_slips(said: str, value: Any) -> None:
    assert hits(task(said, {"what": value})) == []


def test_a_million_characters_take_seconds_and_too_many_names_are_not_compared() -> None:
    text = '{"a":' * 40_000
    said = UserSpec(kind="scripted", turns=((Message(role="user", content=text[: len(text) // 2]),),))
    call = ToolCall(name="lend_book", arguments={"x": text})
    long = make_task(user=said, ground_truth=GroundTruth(semantics="required", turns=((call,),)))
    began = time.process_time()
    list(NearMissValue().inspect(long))
    assert time.process_time() - began < 5
    names = [f"note_{i}.md" for i in range(2_000)]
    said = UserSpec(kind="scripted", turns=((Message(role="user", content=" ".join(names)),),))
    call = ToolCall(name="lend_book", arguments={"x": names})
    wide = make_task(user=said, ground_truth=GroundTruth(semantics="required", turns=((call,),)))
    assert "are too many to compare" in str(NearMissValue().not_applicable(wide))


HOME = {"street": "9 Elm Road", "flat": "B", "city": "Austin", "state": "TX", "zip": "78712", "country": "USA"}
HOMES = {"members": {"ada": {"home": HOME}, "bea": {"home": {**HOME, "street": "1 Oak Road"}}, "cea": {}}}


def test_all_but_one_value_of_a_record() -> None:
    [hit] = hits(task("Move me to my old address.", {"member": "ada", **HOME, "zip": "87712"}, state=HOMES))
    assert "same 5 other values has '78712'" in hit.claim
    assert hit.evidence[1].pointer == "/environment/state/members/ada/home/zip"


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("Move me to my old address.", HOME),
        ("Move me next door, to 11 Elm Road.", {**HOME, "street": "11 Elm Road"}),  # the user says it
        ("Move me.", {**HOME, "street": "11 Ash Lane", "flat": "C"}),  # another address
    ],
)
def test_values_of_a_record_and_of_another(said: str, given: dict[str, Any]) -> None:
    assert hits(task(said, {"member": "ada", **given}, state=HOMES)) == []
