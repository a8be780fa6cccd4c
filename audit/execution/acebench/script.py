"""Runs ACEBench's own checker and classes under the checkout's interpreter. It must not import our package."""

import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHECKER = "normal_checker"
REASON_CHARACTERS = 500


def setup(checkout: str, files: str, language: str) -> Callable[[Any], Iterator[Any]]:
    """Import what a checkout defines.

    Args:
        checkout: its folder.
        files: JSON object: the file of each function and class, by name.
        language: "en" or "zh", which some of the classes take.
    """
    sys.path.insert(0, checkout)
    found = {name: getattr(_module(Path(checkout), Path(path)), name) for name, path in json.loads(files).items()}
    return AceBench(found, language).serve


def _module(checkout: Path, path: Path) -> Any:
    parts = path.relative_to(checkout).with_suffix("").parts
    sys.path.insert(1, str(path.parent))
    return importlib.import_module(".".join(parts) if all(part.isidentifier() for part in parts) else path.stem)


class AceBench:
    """One task at a time: its classes, and verdicts on attempts."""

    def __init__(self, found: dict[str, Any], language: str) -> None:
        self._found = found
        self._language = language
        self._instances: dict[str, Any] = {}

    def serve(self, request: Any) -> Iterator[Any]:
        """Answer one request."""
        if request["do"] == "reset":
            self._build(request["session"])
            yield True
        elif request["do"] == "call":
            yield self._call(request["call"])
        elif request["do"] == "snapshot":
            yield {name: _state(instance) for name, instance in self._instances.items()}
        else:
            judge = getattr(self, f"_judge_{request['task']['kind']}")
            for attempt in request["attempts"]:
                yield _guarded(judge, request["task"], attempt)

    def _build(self, session: Any) -> None:
        self._instances = {}
        config = session["config"]
        for name in session["classes"]:
            made = self._found[name]
            needs = [p for p in inspect.signature(made).parameters.values() if p.default is p.empty and p.kind < 2]
            instance = made(self._language) if needs else made()
            if hasattr(instance, "_load_scenario"):
                for owner in [kind.__name__ for kind in reversed(made.__mro__)]:
                    if owner in config:
                        instance._load_scenario(config[owner])
            self._instances[name] = instance

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        [(name, arguments)] = call.items()
        having = [instance for instance in self._instances.values() if callable(getattr(instance, name, None))]
        if not having or name.startswith("_"):
            reason = f"no function has the name {name!r}"
            return {"text": f"Error: {reason}", "error": reason}
        # By name: the classes of one task come from several packages, each with a copy of the common base class.
        owner = next(kind.__name__ for kind in type(having[0]).__mro__ if name in vars(kind))
        results = []
        try:
            for instance in having:
                if owner in {kind.__name__ for kind in type(instance).__mro__}:
                    results.append(getattr(instance, name)(**arguments))
        except Exception as error:
            return {"text": f"Error: {error}", "error": f"{type(error).__name__}: {error}"}
        result = results[0]
        refused = isinstance(result, dict) and result.get("status") is False
        text = result if isinstance(result, str) else json.dumps(result, default=str, ensure_ascii=False)
        return {"text": text, "error": str(result.get("message") or "it was refused") if refused else None}

    def _judge_calls(self, task: Any, calls: list[Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for answer in task["answers"]:
            result = self._found[CHECKER](task["functions"], calls, answer, task["question"], task["category"])
            if result["valid"]:
                break
        valid = bool(result.get("valid"))
        return {"passed": valid, "parts": {}, "reason": "" if valid else _reason(result)}

    def _judge_state(self, task: Any, calls: list[Any]) -> dict[str, Any]:
        self._build(task["session"])
        for call in calls:
            self._call(call)
        parts: dict[str, bool] = {}
        wrong = []
        for name, wanted in ((name, state) for item in task["expected"] for name, state in item.items()):
            instance = self._instances.get(name)
            if instance is None:  # ACEBench compares nothing then: it looks for a class of that very name
                continue
            reached = _state(instance)
            different = [key for key, value in wanted.items() if reached.get(key) != value]
            parts[name] = not different
            wrong += [f"{name}: {what}" for what in different]
        return {"passed": all(parts.values()), "parts": parts, "reason": "; ".join(wrong)[:REASON_CHARACTERS]}


def _guarded(judge: Callable[[Any, Any], dict[str, Any]], task: Any, attempt: Any) -> dict[str, Any]:
    try:
        return judge(task, attempt)
    except MemoryError:
        raise
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def _reason(result: dict[str, Any]) -> str:
    listed = result.get("error", "")
    errors = listed if isinstance(listed, list) else [listed]
    texts = [error if isinstance(error, str) else json.dumps(error, default=str) for error in errors]
    return ": ".join(filter(None, [str(result.get("error_type", "")), " ".join(texts)]))[:REASON_CHARACTERS]


def _state(instance: Any) -> Any:
    """Return the public attributes of an instance as JSON data."""
    public = {name: value for name, value in vars(instance).items() if not name.startswith("_")}
    return json.loads(json.dumps(public, default=str))
