import pytest

from agenthard.audit.detectors.user import SimulatorInstruction
from agenthard.taxonomy import UserSpec
from tests.builders import make_task


def claims(instruction: str, **context: str) -> list[str]:
    user = UserSpec(kind="simulated", instruction=instruction, context=context)
    return [hit.claim for hit in SimulatorInstruction().inspect(make_task(user=user))]


@pytest.mark.parametrize(
    ("instruction", "context"),
    [
        ("You do not remember your email address.", {"known_info": "You are Ada, ada@example.org."}),
        ("You don't know the order number of #W1234567.", {}),
        ("Have the agent use lend_book.", {}),
        ("Say yes, as in the ground truth.", {}),
    ],
)
def test_what_it_cannot_say_or_know(instruction: str, context: dict[str, str]) -> None:
    assert len(claims(instruction, **context)) == 1


@pytest.mark.parametrize(
    "instruction",
    [
        "You do not remember your email address. Your order is #W1234567.",
        "You don't remember the order number at first, it is #W1234567.",
        "You want to lend a book.",
    ],
)
def test_a_sound_instruction(instruction: str) -> None:
    assert claims(instruction) == []


def test_fixed_turns_instruct_nobody() -> None:
    assert SimulatorInstruction().not_applicable(make_task())
