"""Open tasks with criteria in words, for the tests of checks that read them."""

from agenthard.taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, Message, UserSpec
from tests.builders import make_task


def open_task(said: str, *criteria: str, task_id: str = "lab/s1/subtask1", cluster: str | None = None) -> AgentTask:
    """A task without tools; ``criteria`` are graded and not shown, unless ``said`` holds them under a heading."""
    return make_task(
        task_id,
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(),
        evaluation=EvaluationSpec(checks=tuple(Check(kind="rubric", scored=True, expected=text) for text in criteria)),
        ground_truth=GroundTruth(semantics="none"),
        cluster=cluster,
    )
