"""Runs the code of τ-bench or τ²-bench; run by the checkout's interpreter, so it imports nothing of ours."""

import copy
import importlib
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any


def setup(checkout: str, benchmark: str, domain: str) -> Callable[[Any], Iterator[Any]]:
    """Import one domain of a checkout and load its database.

    Args:
        checkout: folder of the repository.
        benchmark: tau-bench or tau2.
        domain: airline, retail ...
    """
    sys.path[0:0] = [os.path.join(checkout, "src"), checkout]
    return Session(TauBench(domain) if benchmark == "tau-bench" else Tau2(domain)).serve


class TauBench:
    """``tau_bench.envs.DOMAIN``: an ``Env`` with ``tools_map``, ``data`` and ``calculate_reward``."""

    def __init__(self, domain: str) -> None:
        client = types.ModuleType("litellm")  # the model that plays the user is never asked
        vars(client)["completion"] = None
        sys.modules["litellm"] = client
        module = importlib.import_module(f"tau_bench.envs.{domain}.env")
        [kind] = [value for name, value in vars(module).items() if name.endswith("DomainEnv")]
        self._types = importlib.import_module("tau_bench.types")
        self._env = kind(user_strategy="human", user_model="", task_split="test", task_index=0)
        text = json.dumps(self._env.data_load_func())
        self._env.data_load_func = lambda: json.loads(text)
        self.base = json.loads(text)

    def reset(self) -> None:
        """Load the database anew."""
        self._env.data = self._env.data_load_func()

    def state(self) -> Any:
        """Return the database."""
        return self._env.data

    def call(self, call: dict[str, Any]) -> tuple[str, str | None]:
        """Carry out a call as ``Env.step`` does."""
        name = call["name"]
        if name not in self._env.tools_map:
            return f"Unknown action {name}", f"there is no tool {name!r}"
        try:
            text = self._env.tools_map[name].invoke(data=self._env.data, **call["arguments"])
        except Exception as error:
            return f"Error: {error}", f"{type(error).__name__}: {error}"
        return text, text if text.startswith("Error") else None

    def judge(self, gold: dict[str, Any], attempt: dict[str, Any]) -> dict[str, Any]:
        """Let the environment work out the reward of an attempt."""
        action, env = self._types.Action, self._env
        self.reset()
        for call in attempt["calls"]:
            self.call(call)
        reached = copy.deepcopy(env.data)
        golden = [action(name=call["name"], kwargs=call["arguments"]) for call in gold["calls"]]
        env.task = self._types.Task(user_id="", instruction="", actions=golden, outputs=gold["outputs"])
        env.actions = [action(name="respond", kwargs={"content": text}) for text in attempt["replies"]]
        reward = env.calculate_reward().reward  # it leaves the state after the ground truth in env.data
        return {"reward": float(reward), "database": reached == env.data}


class Tau2:
    """``tau2.domains.DOMAIN.environment``: an ``Environment`` with ``get_response`` and ``get_db_hash``."""

    def __init__(self, domain: str) -> None:
        self._pristine = importlib.import_module(f"tau2.domains.{domain}.environment").get_environment()
        self._call = importlib.import_module("tau2.data_model.message").ToolCall
        self.base = self._pristine.tools.db.model_dump(mode="json")
        self.reset()

    def reset(self) -> None:
        """Go back to the environment as it was made."""
        self._env = copy.deepcopy(self._pristine)

    def state(self) -> Any:
        """Return the database."""
        return self._env.tools.db.model_dump(mode="json")

    def call(self, call: dict[str, Any]) -> tuple[str, str | None]:
        """Carry out a call."""
        answer = self._env.get_response(self._call(id="", **call))
        return answer.content, answer.content if answer.error else None

    def judge(self, gold: dict[str, Any], attempt: dict[str, Any]) -> dict[str, Any]:
        """Compare the database hash after an attempt with the one after the ground truth."""
        hashes = []
        for calls in (attempt["calls"], gold["calls"]):
            self.reset()
            for call in calls:
                self.call(call)
            hashes.append(self._env.get_db_hash())
        return {"database": hashes[0] == hashes[1]}


class Session:
    """One task at a time."""

    def __init__(self, code: TauBench | Tau2) -> None:
        self._code = code

    def serve(self, request: Any) -> Iterator[Any]:
        """Answer one request."""
        if request["do"] == "reset":
            self._code.reset()
            yield True
        elif request["do"] == "call":
            text, error = self._code.call(request["call"])
            yield {"text": text, "error": error}
        elif request["do"] == "snapshot":
            yield _changes(self._code.base, self._code.state())
        else:
            for attempt in request["attempts"]:
                yield self._judged(request["gold"], attempt)

    def _judged(self, gold: Any, attempt: Any) -> dict[str, Any]:
        try:
            return self._code.judge(gold, attempt)
        except MemoryError:
            raise
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}


def _changes(base: Any, now: Any) -> Any:
    """Return the records that differ, by table and id; a record that is gone is null."""
    if not isinstance(base, dict) or not isinstance(now, dict):
        return now
    tables: dict[str, Any] = {}
    for name in sorted(base.keys() | now.keys()):
        before, after = base.get(name), now.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            keys = sorted(before.keys() | after.keys())
            tables[name] = {key: after.get(key) for key in keys if before.get(key) != after.get(key)}
        else:
            tables[name] = after
    return tables
