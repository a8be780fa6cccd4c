"""Runs BFCL's own classes and checkers; run by the interpreter that has bfcl-eval, so it imports nothing of ours."""

import builtins
import copy
import importlib
import inspect
import json
import os
import sys
import tempfile
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

CHECKERS = "bfcl_eval.eval_checker"
MODEL_CONFIG = "bfcl_eval.constants.model_config"
PROJECT_ROOT = "BFCL_PROJECT_ROOT"
NOT_COMPARED = {("Directory", "parent")}
"""Public attributes that the equality of their class leaves out."""
MODEL = "agent"
GOLD = f"{MODEL}_ground_truth"
"""What the checker calls the model whose calls are those of the ground truth."""
SESSION = "session"
PARTS = {
    "multi_turn:instance_state_mismatch": {"state": False},
    "multi_turn:execution_response_mismatch": {"state": True, "responses": False},
    "multi_turn:empty_turn_model_response": {"calls": False},
}
REASON_CHARACTERS = 500


class OutOfMemory(BaseException):
    """Memory ran out in a call; no Exception, so that the loop around calls cannot take it for an ordinary error."""


def setup() -> Callable[[Any], Iterator[Any]]:
    """Import the package, without the model clients that its table of models drags in."""
    table = types.ModuleType(MODEL_CONFIG)
    model = types.SimpleNamespace(underscore_to_dot=False)
    vars(table)["MODEL_CONFIG_MAPPING"] = defaultdict(lambda: model)
    sys.modules[MODEL_CONFIG] = table
    with tempfile.TemporaryDirectory() as folder:  # importing makes folders for results
        os.environ[PROJECT_ROOT] = folder
        calls = importlib.import_module(f"{CHECKERS}.multi_turn_eval.multi_turn_utils")
        for name, module in calls.CLASS_FILE_PATH_MAPPING.items():
            with suppress(ImportError):  # web search and memory need packages that executing calls does not
                _methods(getattr(importlib.import_module(module), name))  # all workers know them then
        states = importlib.import_module(f"{CHECKERS}.multi_turn_eval.multi_turn_checker")
        answers = importlib.import_module(f"{CHECKERS}.ast_eval.ast_checker")
        utils = importlib.import_module("bfcl_eval.utils")
        languages = None
        with suppress(ImportError):  # version 3 calls languages by their names
            languages = importlib.import_module("bfcl_eval.constants.enums").Language
    vars(calls)["eval"] = _evaluator(vars(calls))
    vars(calls)["inspect"] = types.SimpleNamespace(ismethod=inspect.ismethod, getmembers=_members)
    return Bfcl(calls, states, answers, utils, languages).serve


def _evaluator(names: dict[str, Any]) -> Callable[[str], Any]:
    def evaluate(text: str) -> Any:
        try:
            return builtins.eval(text, names)
        except MemoryError:
            raise OutOfMemory("it ran out of memory") from None

    return evaluate


def _members(instance: Any, predicate: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """List the methods of an instance as ``inspect.getmembers`` does, but search each class once.

    The package searches all classes before each call, which takes longer than the calls.
    """
    if any(map(predicate, vars(instance).values())):
        return inspect.getmembers(instance, predicate)
    found = ((name, getattr(instance, name)) for name in _methods(instance.__class__))
    return [(name, value) for name, value in found if predicate(value)]


class GoldOnce:
    """Executes calls as the package does, but the ground truth of a task once and not again for each attempt.

    An attempt and the ground truth have instances of their own, so the one cannot change what the other does.
    """

    def __init__(self, execute: Callable[..., Any]) -> None:
        self._execute = execute
        self._task: Any = None
        self._turns: list[Any] = []
        self._next = 0

    def begin(self, task: Any) -> bool:
        """Begin with an attempt; return whether it is the first at this task."""
        self._next = 0
        first = bool(task != self._task)
        if first:
            self._task, self._turns = task, []
        return first

    def __call__(self, *, model_name: str, **given: Any) -> Any:
        """Execute the calls of one turn of an attempt, or of the ground truth; return responses and instances."""
        if model_name != GOLD:
            return self._execute(model_name=model_name, **given)
        if self._next == len(self._turns):
            self._turns.append(copy.deepcopy(self._execute(model_name=model_name, **given)))
        self._next += 1
        return self._turns[self._next - 1]


@cache
def _methods(kind: type) -> list[str]:
    return [name for name, value in inspect.getmembers(kind) if inspect.isroutine(value)]


class Bfcl:
    """One task at a time: its classes, and verdicts on attempts."""

    def __init__(self, calls: Any, states: Any, answers: Any, utils: Any, languages: Any) -> None:
        self._calls = calls
        self._states = states
        self._gold = GoldOnce(states.execute_multi_turn_func_call)
        vars(states)["execute_multi_turn_func_call"] = self._gold
        self._answers = answers
        self._utils = utils
        self._languages = languages
        self._task: dict[str, Any] = {}
        self._instances: dict[str, Any] = {}

    def serve(self, request: Any) -> Iterator[Any]:
        """Answer one request."""
        if request["do"] == "reset":
            self._task = request["task"]
            self._forget(SESSION)
            yield self._run([])
        elif request["do"] == "call":
            yield self._run([request["text"]])[0]
        elif request["do"] == "snapshot":
            yield {name: _plain(instance, ()) for name, instance in self._instances.items()}
        else:
            judge = getattr(self, f"_judge_{request['task']['kind']}")
            for attempt in request["attempts"]:
                yield self._verdict(judge, request["task"], attempt)

    def _run(self, texts: list[str]) -> list[str]:
        task = self._task
        results: list[str]
        results, self._instances = self._calls.execute_multi_turn_func_call(
            texts, task["config"], task["classes"], SESSION, task["id"], long_context=task["long_context"]
        )
        return results

    def _forget(self, owner: str) -> None:
        """Remove the instances that the package keeps as global names."""
        kept = vars(self._calls)
        for name in [name for name in kept if name.startswith(f"{owner}_") and name.endswith("_instance")]:
            del kept[name]

    def _verdict(self, judge: Callable[[Any, Any], dict[str, Any]], task: Any, attempt: Any) -> dict[str, Any]:
        try:
            return judge(task, attempt)
        except (MemoryError, OutOfMemory):
            raise
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}

    def _judge_state(self, task: Any, turns: list[list[str]]) -> dict[str, Any]:
        gold = task["gold"]
        if len(turns) > len(gold):
            return _rejected("multi_turn:force_terminated", f"{len(turns)} turns, the ground truth has {len(gold)}")
        steps = [[turn] if turn else [] for turn in turns] + [[]] * (len(gold) - len(turns))
        if self._gold.begin(task):
            self._forget(GOLD)
        try:
            result = self._states.multi_turn_checker(steps, gold, task["entry"], "", MODEL)
        except Exception:
            self._gold.begin(None)
            raise
        finally:
            self._forget(f"{MODEL}_eval")
        if result["valid"]:
            return {"valid": True, "parts": {"state": True, "responses": True}, "reason": ""}
        details = result.get("details", {})
        what = details.get("missing_items") or sorted(details.get("differences", ()))
        reason = f"{result['error_message']} {', '.join(map(str, what))}"
        return _rejected(result["error_type"], reason, PARTS.get(result["error_type"]))

    def _judge_calls(self, task: Any, calls: list[Any]) -> dict[str, Any]:
        language = self._languages[task["language"].upper()] if self._languages else task["language"]
        result = self._answers.ast_checker(task["functions"], calls, task["answer"], language, task["category"], MODEL)
        if result["valid"]:
            return {"valid": True, "parts": {}, "reason": ""}
        errors = [error if isinstance(error, str) else json.dumps(error, default=str) for error in result["error"]]
        return _rejected(result["error_type"], " ".join(errors))

    def _judge_presence(self, task: Any, calls: list[Any]) -> dict[str, Any]:
        called = not self._utils.is_empty_output(calls)
        if called == task["expected"]:
            return {"valid": True, "parts": {}, "reason": ""}
        return _rejected("relevance_error", "a call was made" if called else "no call was made")


def _rejected(kind: str, reason: str, parts: Any = None) -> dict[str, Any]:
    return {"valid": False, "parts": parts or {}, "reason": f"{kind}: {reason}"[:REASON_CHARACTERS].strip()}


def _plain(value: Any, above: tuple[int, ...]) -> Any:
    """Turn a state into JSON, equal where the package's own comparison says equal.

    Private attributes, and objects that contain the value itself, are left out.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    inside = (*above, id(value))
    if isinstance(value, dict):
        return {str(key): _plain(item, inside) for key, item in value.items() if id(item) not in inside}
    if isinstance(value, (list, tuple)):
        return [_plain(item, inside) for item in value if id(item) not in inside]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item, inside) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if not hasattr(value, "__dict__"):
        return str(value)
    kind = type(value).__name__
    return {
        name: _plain(item, inside)
        for name, item in vars(value).items()
        if not name.startswith("_") and (kind, name) not in NOT_COMPARED and id(item) not in inside
    }
