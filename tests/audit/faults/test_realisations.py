"""One mistake has many forms: each of them is planted, and a slip or an addition is what it claims to be."""

import re
from random import Random

import pytest

from agenthard.audit.faults import Fault, Sound, operators
from agenthard.audit.faults.wordings import WAYS, filled, looking_alike, means_the_same, misspell, placed, wordings
from tests.audit.faults.test_operators import by_id, pool

OF_OPERATOR = {
    "value-left-out-number": "value-left-out",
    "example-words": "example-that-is-not-allowed",
    "absent-parameters": "prompt-names-absent-parameter",
    "absent-choices": "prompt-names-absent-choice",
}
WORDED = [
    *OF_OPERATOR,
    "value-left-out", "day-counted-from-today", "live-page", "site-decides", "clock-in-the-prompt", "user-who-serves",
    "user-who-invents-results", "user-who-reveals", "user-who-narrates", "user-who-calls-tools",
    "default-that-is-not-allowed", "example-that-is-not-allowed", "required-but-undocumented",
    "parameter-the-code-lacks", "change-that-is-denied", "prompt-names-absent-tool", "prompt-names-absent-parameter",
    "prompt-names-absent-choice", "prompt-example-does-not-parse", "verbatim-sentence", "courtesy-demanded",
    "criterion-not-scored", "answer-in-the-request", "answer-in-the-policy", "answer-in-the-documentation",
    "answer-in-a-comment", "answer-marked-in-the-state", "answer-listed-in-the-state", "required-text-in-the-request",
    "answer-as-a-worked-example", "same-task-with-a-greeting", "same-task-with-more-courtesy",
]  # fmt: skip
SEEDS = 150


def sound_for(name: str) -> list[Sound]:
    """Some tasks that an operator applies to: generated ones, and those of the tests."""
    found = [sound for sound in pool() if by_id(name).plant(sound, Random(1)) is not None]
    return [*found[:2], *found[-2:]]


def planted_often(name: str) -> list[tuple[Sound, Fault]]:
    tasks = sound_for(name)
    drawn = ((sound, by_id(name).plant(sound, Random(seed))) for seed in range(SEEDS) for sound in tasks)
    return [(sound, fault) for sound, fault in drawn if fault is not None]


def form_of(wording: str) -> re.Pattern[str]:
    """What a filled-in wording looks like."""
    gaps = (re.escape(part) for part in re.split("«\\w+»", wording.strip()))
    start = r"(?<!\w)" if wording.strip()[0].isalnum() else ""
    return re.compile(rf"{start}{'.+'.join(gaps)}(?!\w)", re.DOTALL)


def text_of(name: str, fault: Fault) -> str:
    if fault.copy_of is not None:
        return "\n".join(text for _, text in fault.task.user_texts())
    return f"{fault.pointer}\n{fault.after}"


@pytest.mark.parametrize("name", WORDED)
def test_every_wording_is_planted(name: str) -> None:
    written = [text_of(name, fault) for _, fault in planted_often(OF_OPERATOR.get(name, name))]
    never = [wording for wording in wordings(name) if not any(form_of(wording).search(text) for text in written)]
    assert len(wordings(name)) >= 4 and not never


@pytest.mark.parametrize("operator", [o for o in operators() if o.id in WORDED], ids=lambda each: each.id)
def test_one_seed_gives_one_form_and_another_seed_another(operator: object) -> None:
    name = getattr(operator, "id", "")
    task = sound_for(name)[0]
    faults = [by_id(name).plant(task, Random(seed)) for seed in range(30)]
    assert faults == [by_id(name).plant(task, Random(seed)) for seed in range(30)]
    assert len({text_of(name, fault) for fault in faults if fault is not None}) >= 4


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_slip_changes_one_place(way: object) -> None:
    assert callable(way)
    slipped = way("harbour", 3, Random(2))
    assert slipped.startswith("har") and slipped.endswith("ur") and slipped != "harbour"


def test_slips_are_of_many_kinds() -> None:
    slips = {misspell("KP-40117", Random(seed)) for seed in range(60)}
    assert "KP-40117" not in slips
    assert {len(slip) for slip in slips} == {7, 8, 9}
    assert misspell("a-b", Random(1)) == "a-b"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2025-03-17", "2025-3-17", True),
        ("2025-03-17", "2025-003-17", True),
        ("4.90", "4.900", True),
        ("4.90", "4.09", False),
        ("2025-03-17", "2025-30-17", False),
        ("100", "10", False),
    ],
)
def test_zeros_that_change_no_number(one: str, other: str, same: bool) -> None:
    assert means_the_same(one, other) is same


def test_what_looks_alike_is_written_with_other_characters() -> None:
    alike = {looking_alike("KP-40117", Random(seed)) for seed in range(60)}
    assert "KP-40117" not in alike and len(alike) >= 8
    assert all(re.sub("[\u200b\u00ad\ufeff]", "", text)[0] == "K" for text in alike)


def test_an_addition_stands_in_many_places_and_nothing_is_lost() -> None:
    text = "First.\n\nSecond.\n\nThird."
    found = {placed(text, "Added.", Random(seed)) for seed in range(60)}
    assert len(found) == 6
    assert all(re.sub(r"\s*Added\.\s*", " ", each).split() == text.split() for each in found)
    assert placed("", "Added.", Random(1)) == "Added."


def test_marks_are_filled_and_braces_stay() -> None:
    assert filled('{"«tool»": {{ now() }}, «tool»}', tool="lend") == '{"lend": {{ now() }}, lend}'


@pytest.mark.parametrize("name", ["figure-that-stands-nowhere", "misspelt-required-text"])
def test_a_right_reply_does_not_contain_the_wrong_text(name: str) -> None:
    faults = [fault for _, fault in planted_often(name)]
    assert len({fault.after for fault in faults}) >= 8
    assert all(fault.after not in fault.before for fault in faults)


def test_a_condition_is_gone_with_its_figure() -> None:
    for sound, fault in planted_often("condition-left-out"):
        figure = re.findall(r"\d+", fault.before.rpartition("at ")[2])
        assert not figure or not (fault.after or "").endswith(figure[-1])
        texts = [[text for _, text in task.user_texts()] for task in (sound.task, fault.task)]
        assert fault.before in texts[0][-1] and fault.before not in texts[1][-1]
