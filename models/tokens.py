"""How many tokens a request has, roughly: known before it is sent, and without any model's own tokenizer."""

import json

from agenthard.models.request import Request, Tool

CHARACTERS_PER_TOKEN = 4
"""Usual for English prose. Code and JSON have about 3, numbers 2 to 3, Chinese and Japanese 1 to 1.5."""
BYTES_PER_TOKEN_AT_LEAST = 2
"""UTF-8 bytes that a token has at least, over a whole request; single odd strings can have less."""
TOKENS_PER_MESSAGE = 4
TOKENS_PER_IMAGE, TOKENS_PER_IMAGE_AT_MOST = 800, 1600
DEFAULT_OUTPUT_TOKENS = 16_384
"""Length that a reply is taken to have at most, where the request sets no limit."""


def prompt_tokens(request: Request) -> int:
    """About how many tokens the prompt has: characters / 4, plus 4 per message and 800 per image.

    English prose is met within 15 %; JSON, code and other languages have up to 2 times (Chinese 4 times) as many.
    """
    texts, images = _texts(request), _images(request)
    return (
        sum(map(len, texts)) // CHARACTERS_PER_TOKEN
        + TOKENS_PER_MESSAGE * len(request.messages)
        + TOKENS_PER_IMAGE * images
    )


def most_prompt_tokens(request: Request) -> int:
    """A number of tokens that the prompt hardly exceeds: UTF-8 bytes / 2, plus 4 per message and 1,600 per image."""
    texts, images = _texts(request), _images(request)
    return (
        sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) // BYTES_PER_TOKEN_AT_LEAST
        + TOKENS_PER_MESSAGE * len(request.messages)
        + TOKENS_PER_IMAGE_AT_MOST * images
    )


def most_output_tokens(request: Request) -> int:
    """The limit that the request sets on its reply, or 16,384; a larger budget for thoughts counts instead."""
    limit = request.sampling.max_output_tokens or DEFAULT_OUTPUT_TOKENS
    return max(limit, request.sampling.thinking_tokens or 0)


def _texts(request: Request) -> list[str]:
    texts = [_schema(tool) for tool in request.tools]
    if request.output is not None:
        texts.append(json.dumps(request.output.json_schema))
    for message in request.messages:
        texts += [message.text, message.reasoning, message.provider_state or ""]
        texts += [call.name + call.arguments for call in message.calls]
    return texts


def _schema(tool: Tool) -> str:
    return tool.name + tool.description + json.dumps(tool.parameters)


def _images(request: Request) -> int:
    return sum(len(message.images) for message in request.messages)
