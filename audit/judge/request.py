"""The request that puts a prompt to a judge."""

from collections.abc import Sequence

from agenthard.audit.judge.answer import answer_schema
from agenthard.audit.judge.prompt import Prompt
from agenthard.audit.judge.settings import Judge
from agenthard.models.request import ChatMessage, OutputSchema, Request
from agenthard.taxonomy.categories import Category

OUTPUT = "verdict"
"""What providers call the record that is asked for."""


def judge_request(judge: Judge, prompt: Prompt, categories: Sequence[Category], sample: int) -> Request:
    """Return the request for one verdict.

    Args:
        judge: Who is asked.
        prompt: What is asked.
        categories: The categories that the prompt offers; the reply can name no other.
        sample: Number of the repetition, from 0.
    """
    schema = answer_schema([category.id for category in categories])
    return Request(
        model=judge.model.name,
        messages=(
            ChatMessage(role="system", text=prompt.system),
            ChatMessage(role="user", text=prompt.user),
        ),
        output=OutputSchema(name=OUTPUT, json_schema=schema),
        sampling=judge.model.sampling,
        sample=sample,
    )
