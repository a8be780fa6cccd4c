"""OpenAI's responses, server side. A function call made while reasoning must come back with its reasoning item."""

from typing import Any

from tests.loopback.chat import error, picture
from tests.loopback.talk import Answer, Asked, Called, Refused, Said

__all__ = ["cut", "error", "read", "write"]


def read(body: dict[str, Any]) -> Asked:
    said = [Said("system", body["instructions"])] if body.get("instructions") else []
    names: dict[str, str] = {}
    open_calls: set[str] = set()
    thoughts: set[str] = set()
    for item in body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]:
        kind = item.get("type", "message")
        if kind == "reasoning":
            if not item.get("encrypted_content"):
                raise Refused(400, "invalid_request_error", f"{item['id']} came without its encrypted content")
            thoughts.add(item["encrypted_content"].removeprefix("sealed-"))
        elif kind == "function_call":
            mark = item["call_id"].split("_")
            if mark[0] == "thought" and mark[1] not in thoughts:
                raise Refused(400, "invalid_request_error", f"{item['call_id']} came without its reasoning item")
            names[item["call_id"]] = item["name"]
            open_calls.add(item["call_id"])
            call = Called(item["name"], item["arguments"])
            if said and said[-1].role == "assistant":
                said[-1] = Said("assistant", said[-1].text, (*said[-1].calls, call))
            else:
                said.append(Said("assistant", calls=(call,)))
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                raise Refused(400, "invalid_request_error", f"no call has the id {item['call_id']}")
            open_calls.discard(item["call_id"])
            said.append(Said("tool", item["output"], tool=names[item["call_id"]]))
        else:
            said.append(_message(item))
    if open_calls:
        raise Refused(400, "invalid_request_error", f"No tool output found for function calls {sorted(open_calls)}")
    form = (body.get("text") or {}).get("format") or {}
    return Asked(
        protocol="responses",
        model=body["model"],
        said=tuple(said),
        tools=tuple(body.get("tools") or ()),
        tool_choice=body.get("tool_choice", "auto"),
        schema=form.get("schema") if form.get("type") == "json_schema" else None,
        max_tokens=body.get("max_output_tokens"),
        body=body,
    )


def _message(item: dict[str, Any]) -> Said:
    role = "system" if item["role"] == "developer" else item["role"]
    if isinstance(item["content"], str):
        return Said(role, item["content"])
    text = "".join(part["text"] for part in item["content"] if part["type"] in ("input_text", "output_text"))
    images = tuple(picture(part["image_url"]) for part in item["content"] if part["type"] == "input_image")
    return Said(role, text, images=images)


def write(asked: Asked, answer: Answer, usage: dict[str, int]) -> dict[str, Any]:
    mark = asked.digest[:12]
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        items.append(
            {"type": "reasoning", "id": f"rs_{mark}", "summary": summary, "encrypted_content": f"sealed-{mark}"}
        )
    if answer.text:
        part: dict[str, Any] = {"type": "output_text", "text": answer.text, "annotations": []}
        if answer.ending == "refusal":
            part = {"type": "refusal", "refusal": answer.text}
        message = {
            "type": "message",
            "id": f"msg_{mark}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        items.append(message)
    for n, call in enumerate(answer.calls):
        ids = {"id": f"fc_{mark}_{n}", "call_id": f"{'thought' if answer.reasoning else 'call'}_{mark}_{n}"}
        items.append({"type": "function_call", **ids, "name": call.name, "arguments": call.text, "status": "completed"})
    body = {
        "id": f"resp_{mark}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": f"{asked.model}-loopback",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage["prompt"],
            "output_tokens": usage["completion"],
            "total_tokens": usage["prompt"] + usage["completion"],
            "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
        },
    }
    return cut(body) if answer.ending == "length" else body


def cut(body: dict[str, Any]) -> dict[str, Any]:
    """The same reply, cut off in the middle of its last item."""
    *whole, last = body["output"]
    if last["type"] == "function_call":
        last = {**last, "arguments": last["arguments"][: len(last["arguments"]) // 2], "status": "incomplete"}
    elif last["type"] == "message":
        part = last["content"][0]
        words = part.get("text", "")
        last = {**last, "content": [{**part, "text": words[: len(words) // 2]}], "status": "incomplete"}
    details = {"reason": "max_output_tokens"}
    return {**body, "output": [*whole, last], "status": "incomplete", "incomplete_details": details}
