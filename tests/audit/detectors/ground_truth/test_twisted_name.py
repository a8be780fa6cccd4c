from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import TwistedName
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, GroundTruth, Message, ToolCall, UserSpec
from tests.builders import make_task

STATE = {"desk": {"summary_draft.md": "…", "loan_4512": {}}}


def hits(said: str, *, expected: Any = None, **arguments: Any) -> list[Hit]:
    check = Check(kind="final_state", scored=True, expected=expected)
    subject: AgentTask = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        initial_state=STATE,
        evaluation=EvaluationSpec(checks=(check,)),
        ground_truth=GroundTruth(
            semantics="milestones", turns=((ToolCall(name="copy", arguments=arguments),),), call_matching="exact"
        ),
    )
    found = list(TwistedName().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_the_user_turns_a_name_round() -> None:
    [hit] = hits("Copy draft_summary.md.", source="summary_draft.md")
    assert hit.claim == (
        "The gold call of 'copy' gives 'source' as 'summary_draft.md', and the task has 'draft_summary.md': parts "
        "turned round."
    )


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Put it into 'old_books'.", {"target": "old_book"}),
        ("Put it into 'old_books'.", {"target": "books_old"}),
        ("Close the loan #4521.", {"loan": 4512}),
        ("Close the loan loan_4521.", {"loan": "loan_4512"}),
        ("Post it with #Trip and #Sea.", {"tags": ["Trip", "#Sea"]}),
    ],
)
def test_twists(said: str, arguments: dict[str, Any]) -> None:
    assert len(hits(said, **arguments)) == 1


def test_the_evaluation_has_another_name() -> None:
    assert hits("Book the cheapest flight.", expected={"flight": "CZ4352"}, flight="CZ4325")


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Copy summary_draft.md.", {"source": "summary_draft.md"}),
        ("Copy the draft to draft_2.md.", {"target": "draft_1.md"}),
        ("Begin on 2024-05-12.", {"day": "2024-05-21"}),
        ("Copy draft_summary.md, not summary_draft.md.", {"source": "summary_draft.md"}),
        ("Post it with #Trip.", {"tags": ["#Trip"]}),
    ],
)
def test_innocent(said: str, arguments: dict[str, Any]) -> None:
    assert not hits(said, **arguments)
