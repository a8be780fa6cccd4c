"""OpenAI's chat completions, server side."""

import json
from typing import Any

from tests.loopback.talk import Answer, Asked, Called, Refused, Said


def read(body: dict[str, Any]) -> Asked:
    names: dict[str, str] = {}
    open_calls: list[str] = []
    said = []
    for message in body["messages"]:
        if message["role"] != "tool" and open_calls:
            raise Refused(400, "invalid_request_error", f"tool_call_ids without an answer: {open_calls}")
        calls = []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            names[call["id"]] = function["name"]
            open_calls.append(call["id"])
            calls.append(Called(function["name"], function["arguments"]))
        tool = ""
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise Refused(400, "invalid_request_error", f"no call has the id {message['tool_call_id']}")
            open_calls.remove(message["tool_call_id"])
            tool = names[message["tool_call_id"]]
        role = "system" if message["role"] == "developer" else message["role"]
        text, images = _content(message.get("content"))
        said.append(Said(role, text, tuple(calls), tool, images))
    if open_calls:
        raise Refused(400, "invalid_request_error", f"tool_call_ids without an answer: {open_calls}")
    form = body.get("response_format") or {}
    return Asked(
        protocol="chat",
        model=body["model"],
        said=tuple(said),
        tools=tuple(tool["function"] for tool in body.get("tools") or ()),
        tool_choice=body.get("tool_choice", "auto"),
        schema=form["json_schema"]["schema"] if form.get("type") == "json_schema" else None,
        seed=body.get("seed"),
        max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
        body=body,
    )


def _content(content: Any) -> tuple[str, tuple[str, ...]]:
    if content is None or isinstance(content, str):
        return content or "", ()
    text = "".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, tuple(picture(url) for url in urls)


def picture(url: str) -> str:
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return f"{kind};{data}"


def write(asked: Asked, answer: Answer, usage: dict[str, int]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.ending == "refusal":
        message |= {"content": None, "refusal": answer.text}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{asked.digest[:12]}_{n}",
                "type": "function",
                "function": {"name": c.name, "arguments": c.text},
            }
            for n, c in enumerate(answer.calls)
        ]
    finish = "stop" if answer.ending == "refusal" else answer.ending
    return {
        "id": f"chatcmpl-{asked.digest[:16]}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{asked.model}-loopback",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": usage["prompt"],
            "completion_tokens": usage["completion"],
            "total_tokens": usage["prompt"] + usage["completion"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"]},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]},
        },
    }


def error(refused: Refused) -> dict[str, Any]:
    kind = "invalid_request_error" if refused.status < 500 else "server_error"
    return {"error": {"message": refused.message, "type": kind, "param": None, "code": refused.code}}


def cut(body: dict[str, Any]) -> dict[str, Any]:
    """The same reply, cut off in the middle of its last call or of its text."""
    choice = json.loads(json.dumps(body["choices"][0]))
    message = choice["message"]
    if message.get("tool_calls"):
        function = message["tool_calls"][-1]["function"]
        function["arguments"] = function["arguments"][: len(function["arguments"]) // 2]
    elif message["content"]:
        message["content"] = message["content"][: len(message["content"]) // 2]
    return {**body, "choices": [{**choice, "finish_reason": "length"}]}
