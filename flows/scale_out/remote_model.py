"""A model for workers: every request goes to the process of the command, which keeps its limits and its budget."""

from agenthard.flows.scale_out.job_server import Answer
from agenthard.flows.scale_out.job_worker import Ask
from agenthard.models import errors
from agenthard.models.errors import ModelError
from agenthard.models.request import Completion, Model, Request
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class UnexpectedAnswerError(AgentHardError):
    """The process of the command failed over a request in an unexpected way; the message is its own."""

    code = "AH832"
    remedy = "This is a defect of AgentHard; report it with the message."


class _Question(Record):
    request: Request
    purpose: str
    owner: str


class _Answer(Record):
    completion: Completion | None = None
    error: str = ""
    message: str = ""


class RemoteModel:
    """Answers requests through the command (agenthard.models.request.Model)."""

    def __init__(self, ask: Ask) -> None:
        """Prepare.

        Args:
            ask: asks the command.
        """
        self._ask = ask

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request.

        Raises:
            ModelError: No reply: the error that the command met.
            UnexpectedAnswerError: The command failed in another way.
        """
        question = _Question(request=request, purpose=purpose, owner=owner)
        answer = _Answer.model_validate_json(await self._ask(question.model_dump_json().encode()))
        if answer.completion is not None:
            return answer.completion
        kind = getattr(errors, answer.error, None)
        if isinstance(kind, type) and issubclass(kind, ModelError):
            raise kind(answer.message)
        raise UnexpectedAnswerError(f"{answer.error}: {answer.message}")


def answer_with(model: Model) -> Answer:
    """Return what answers the requests of workers, in the process of the command."""

    async def answer(data: bytes) -> bytes:
        try:
            asked = _Question.model_validate_json(data)
            completion = await model.complete(asked.request, purpose=asked.purpose, owner=asked.owner)
            found = _Answer(completion=completion)
        except Exception as error:  # noqa: BLE001 - the worker's episode ends with it
            found = _Answer(error=type(error).__name__, message=str(error))
        return found.model_dump_json().encode()

    return answer
