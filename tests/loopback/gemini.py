"""Gemini's generateContent, server side. Models named gemini-3... sign their calls and want the signatures back."""

import json
import re
from typing import Any

from tests.loopback.talk import Answer, Asked, Called, Refused, Said

_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


_DATA = {"args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema"}
"""Fields that hold data of the caller, whose keys stay as they are."""


def camel(value: Any) -> Any:
    """Names in camel case: like the real one, the server reads thinking_config as it reads thinkingConfig."""
    if isinstance(value, list):
        return [camel(part) for part in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): part for key, part in value.items()}
    return {key: part if key in _DATA else camel(part) for key, part in named.items()}


def read(model: str, body: dict[str, Any]) -> Asked:
    body = camel(body)
    said = []
    if body.get("systemInstruction"):
        said.append(Said("system", "".join(part.get("text", "") for part in body["systemInstruction"]["parts"])))
    waiting: list[str] = []
    for content in body["contents"]:
        parts = content["parts"]
        calls = [part for part in parts if "functionCall" in part]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if len(answers) != len(waiting) or [answer["name"] for answer in answers] != waiting:
            reason = f"the function responses {[a['name'] for a in answers]} do not answer the function calls {waiting}"
            raise Refused(400, "INVALID_ARGUMENT", reason)
        waiting = [part["functionCall"]["name"] for part in calls]
        if calls and model.startswith("gemini-3") and not calls[0].get("thoughtSignature"):
            raise Refused(400, "INVALID_ARGUMENT", f"Function call {waiting[0]} is missing a thought_signature")
        if answers:
            said += [Said("tool", json.dumps(answer["response"]), tool=answer["name"]) for answer in answers]
            continue
        pictures = [part["inlineData"] for part in parts if "inlineData" in part]
        said.append(
            Said(
                "assistant" if content["role"] == "model" else "user",
                "".join(part.get("text", "") for part in parts if not part.get("thought")),
                tuple(Called(p["functionCall"]["name"], p["functionCall"].get("args") or {}) for p in calls),
                images=tuple(f"{p['mimeType']};{p['data'].replace('-', '+').replace('_', '/')}" for p in pictures),
            )
        )
    config = body.get("generationConfig") or {}
    tools = [declaration for tool in body.get("tools") or () for declaration in tool.get("functionDeclarations", ())]
    mode = ((body.get("toolConfig") or {}).get("functionCallingConfig") or {}).get("mode", "AUTO")
    return Asked(
        protocol="gemini",
        model=model,
        said=tuple(said),
        tools=tuple(tools),
        tool_choice={"AUTO": "auto", "NONE": "none", "ANY": "required"}[mode],
        schema=config.get("responseJsonSchema") or config.get("responseSchema"),
        seed=config.get("seed"),
        max_tokens=config.get("maxOutputTokens"),
        body=body,
    )


def write(asked: Asked, answer: Answer, usage: dict[str, int]) -> dict[str, Any]:
    signed = asked.model.startswith("gemini-3")
    parts: list[dict[str, Any]] = []
    if answer.reasoning:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    for n, call in enumerate(answer.calls):
        arguments = call.arguments if isinstance(call.arguments, dict) else json.loads(call.arguments)
        part: dict[str, Any] = {"functionCall": {"name": call.name, "args": arguments}}
        # Base64 of 24 hexadecimal digits: only the first of parallel calls is signed.
        parts.append(part | ({"thoughtSignature": asked.digest[:24]} if signed and n == 0 else {}))
    candidate: dict[str, Any] = {"index": 0, "finishReason": _FINISH[answer.ending]}
    if answer.ending != "refusal":
        candidate["content"] = {"role": "model", "parts": parts}
    metadata = {
        "promptTokenCount": usage["prompt"],
        "candidatesTokenCount": usage["completion"] - usage["reasoning"],
        "totalTokenCount": usage["prompt"] + usage["completion"],
        "cachedContentTokenCount": usage["cached"],
        "thoughtsTokenCount": usage["reasoning"],
    }
    version = f"{asked.model}-loopback"
    return {
        "candidates": [candidate],
        "usageMetadata": metadata,
        "modelVersion": version,
        "responseId": asked.digest[:16],
    }


_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def error(refused: Refused) -> dict[str, Any]:
    status = _STATUS.get(refused.status, "INTERNAL")
    return {"error": {"code": refused.status, "message": refused.message, "status": status}}


def cut(body: dict[str, Any]) -> dict[str, Any]:
    """The same reply without its calls and with half its text: Gemini sends no half calls."""
    candidate = body["candidates"][0]
    parts = [p for p in candidate.get("content", {"parts": []})["parts"] if "functionCall" not in p]
    if parts and "text" in parts[-1]:
        parts[-1] = {**parts[-1], "text": parts[-1]["text"][: len(parts[-1]["text"]) // 2]}
    cut_off = {**candidate, "content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS"}
    return {**body, "candidates": [cut_off]}
