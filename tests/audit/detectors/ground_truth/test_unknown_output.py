import pytest

from audit.detectors.ground_truth import UnknownOutput
from audit.evidence import failure
from taxonomy import AgentTask, EnvironmentSpec, GroundTruth, ToolCall
from tests.builders import make_task

STATE = {"loans": {"LN88231": {"tracking": "286422338955", "mail": "ada@example.org"}}}


def task(*outputs: str) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"card": "CARD771"})
    truth = GroundTruth(semantics="reference_path", turns=((call,),), outputs=outputs, call_matching="state")
    return make_task(environment=EnvironmentSpec(state=STATE), ground_truth=truth)


@pytest.mark.parametrize("output", ["286422338956", "LN88299", "bob@example.org"])
def test_an_identifier_that_stands_nowhere(output: str) -> None:
    subject = task("286422338955", output)
    [hit] = UnknownOutput().inspect(subject)
    assert hit.evidence[0].pointer == "/ground_truth/outputs/1" and failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize(
    "output", ["286422338955", "ln88231", "CARD771", "1093.34", "23553", "linen", "2024-05-15", ""]
)
def test_existing_identifiers_amounts_and_words_are_clean(output: str) -> None:
    assert list(UnknownOutput().inspect(task(output))) == []


def test_what_cannot_be_checked() -> None:
    assert UnknownOutput().not_applicable(task()) == "no output is required"
    bare = make_task(ground_truth=GroundTruth(semantics="none", outputs=("LN88231",)))
    assert UnknownOutput().not_applicable(bare) == "no database is part of the files"
