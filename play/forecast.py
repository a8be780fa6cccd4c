"""How a model plays a task, and what that will take: the same for every benchmark."""

from collections.abc import Sequence

from agenthard.models.estimate import Spread, Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Request
from agenthard.models.tokens import prompt_tokens
from agenthard.play.llm import LlmSettings


def llm_settings(file: ModelFile, seed: int, max_turns: int, max_truncations: int, max_tokens: int) -> LlmSettings:
    """Return how a model plays.

    Args:
        file: The model file.
        seed: Seed of the evaluation.
        max_turns: Turns of an episode.
        max_truncations: Replies cut off at the length limit that are forgiven.
        max_tokens: Tokens of a reply, where the model file does not say.
    """
    tokens = file.sampling.max_output_tokens or max_tokens
    return LlmSettings(
        model=file.name,
        sampling=file.sampling.model_copy(update={"max_output_tokens": tokens}),
        seed=seed,
        max_turns=max_turns,
        max_truncations=max_truncations,
        text_calls=file.text_calls,
    )


def workload_of(
    name: str, first: Request, requests: Sequence[int], growth: Sequence[int], completion: Sequence[int]
) -> Workload:
    """Foresee one episode; each sequence has a low, a typical and a high number.

    Args:
        name: Name of the model.
        first: The first request.
        requests: Requests of the episode.
        growth: Tokens by which the conversation grows from one request to the next.
        completion: Tokens of a reply.
    """
    begin = prompt_tokens(first)
    prompt = [begin + each * count / 2 for each, count in zip(growth, requests, strict=True)]
    return Workload(
        model=name,
        episodes=1,
        requests=_spread(requests),
        prompt_tokens=_spread(prompt),
        completion_tokens=_spread(completion),
    )


def _spread(numbers: Sequence[float]) -> Spread:
    return Spread(**dict(zip(Spread.model_fields, numbers, strict=True)))
