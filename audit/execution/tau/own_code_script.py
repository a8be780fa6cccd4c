"""Runs the code of τ-bench or τ²-bench; run by the checkout's interpreter, so it imports nothing of ours."""

import contextlib
import copy
import importlib
import inspect
import json
import marshal
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any


def setup(checkout: str, benchmark: str, domain: str, packages: str) -> Callable[[Any], Iterator[Any]]:
    """Import one domain of a checkout and load its database.

    Args:
        checkout: folder of the repository.
        benchmark: tau-bench or tau2.
        domain: airline, retail ...
        packages: folder with packages that the code imports and the interpreter may lack; empty for none.
    """
    sys.path[0:0] = [os.path.join(checkout, "src"), checkout]
    sys.path += [packages] if packages else []
    return Session(TauBench(domain) if benchmark == "tau-bench" else Tau2(checkout, domain)).serve


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
        self._tables = Tables(json.dumps(self._env.data_load_func()))
        self._env.data_load_func = self._tables.restored
        self._env.get_data_hash = self._hash_of_changes
        self.base = self._tables.base

    def reset(self, task: dict[str, Any]) -> None:
        """Load the database again; tasks of this benchmark have no state of their own."""
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

    def describe(self) -> dict[str, Any]:
        """Return what a model is shown: tools and policy."""
        shown = {info["function"]["name"]: info["function"] for info in self._env.tools_info}
        return {"tools": shown, "user_tools": {}, "policy": self._env.wiki}

    def judge(self, task: dict[str, Any], gold: dict[str, Any], attempt: dict[str, Any]) -> dict[str, Any]:
        """Let the environment work out the reward of an attempt."""
        action, env = self._types.Action, self._env
        self.reset(task)
        for call in attempt["calls"]:
            self.call(call)
        reached = env.get_data_hash()  # cheap: of the changed records
        golden = [action(name=call["name"], kwargs=call["arguments"]) for call in gold["calls"]]
        env.task = self._types.Task(user_id="", instruction="", actions=golden, outputs=gold["outputs"])
        env.actions = [action(name="respond", kwargs={"content": text}) for text in attempt["replies"]]
        result = env.calculate_reward()  # it leaves the state after the ground truth in env.data
        equal = getattr(getattr(result, "info", None), "r_actions", None)
        database = reached == env.get_data_hash() if equal is None else bool(equal)
        return {"reward": float(result.reward), "database": database}

    def _hash_of_changes(self) -> Any:
        """Let the environment hash the records that are not as they were: all of them take it two seconds."""
        whole = self._env.data
        try:
            self._env.data = self._tables.changed(whole)
            return type(self._env).get_data_hash(self._env)
        finally:
            self._env.data = whole


class Tables:
    """Tables of records as JSON data, put back record by record after they were changed."""

    def __init__(self, text: str) -> None:
        self.base: dict[str, Any] = json.loads(text)
        self._now: dict[str, Any] = json.loads(text)
        self._marks = {name: self._marked(table) for name, table in self.base.items()}

    def restored(self) -> dict[str, Any]:
        """Return the tables as they were; what was returned before must no longer be used."""
        for name, table in self.base.items():
            now = self._now.get(name)
            if not isinstance(table, dict) or not isinstance(now, dict):
                self._now[name] = copy.deepcopy(table)
            elif (marks := self._marked(now)) != self._marks[name]:
                same = {key for key, mark in self._marks[name].items() if marks.get(key) == mark}
                records = {key: now[key] if key in same else copy.deepcopy(table[key]) for key in table}
                self._now[name] = records
        for name in self._now.keys() - self.base.keys():
            del self._now[name]
        return self._now

    def changed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the records that are not as they were, by table; one that is gone is null."""
        found: dict[str, Any] = {}
        for name, table in data.items():
            before = self.base.get(name)
            if not isinstance(table, dict) or not isinstance(before, dict):
                found |= {} if _same(before, table) else {name: table}
                continue
            marks, marked = self._marked(table), self._marks[name]
            suspects = [key for key in marked.keys() | marks.keys() if marks.get(key) != marked.get(key)]
            records = {key: table.get(key) for key in suspects if not _same(before.get(key), table.get(key))}
            found |= {name: records} if records else {}
        return found

    def _marked(self, table: Any) -> dict[Any, bytes]:
        """Return bytes per record that are equal only when it is; format 2 does not depend on what is shared."""
        return {key: marshal.dumps(record, 2) for key, record in table.items()} if isinstance(table, dict) else {}


def _same(one: Any, other: Any) -> bool:
    """Tell whether data are written the same, apart from the order of keys: 86 and 86.0 are two values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


class Tau2:
    """``tau2.domains.DOMAIN.environment``: an ``Environment`` with its tools, its databases and its assertions.

    The package ``tau2`` itself is not run: its ``__init__`` imports agents, runners and the clients of models, none of
    which a domain needs. What is imported are the modules below it that a domain names.
    """

    def __init__(self, checkout: str, domain: str) -> None:
        folders = [os.path.join(checkout, *parts, "tau2") for parts in (("src",), ())]
        package = types.ModuleType("tau2")
        package.__path__ = [folder for folder in folders if os.path.isdir(folder)]
        sys.modules["tau2"] = package
        os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # no .env of the user's
        os.environ["TAU2_DATA_DIR"] = os.path.join(checkout, "data")
        self._folder = f"tau2.domains.{domain}"
        make = importlib.import_module(f"{self._folder}.environment").get_environment
        if "loguru" in sys.modules:
            sys.modules["loguru"].logger.remove()  # it would format every response and write it nowhere
        known = inspect.signature(make).parameters
        # tools that search documents change nothing, and the default ones need a network
        self._pristine = make(**({"retrieval_variant": "no_knowledge"} if "retrieval_variant" in known else {}))
        self._call = importlib.import_module("tau2.data_model.message").ToolCall
        owners = {"assistant": self._pristine.tools, "user": getattr(self._pristine, "user_tools", None)}
        found = {owner: tools.db for owner, tools in owners.items() if getattr(tools, "db", None) is not None}
        if found.get("user") is found.get("assistant"):
            found.pop("user", None)
        self._databases = {owner: Database(model) for owner, model in found.items()}
        self._owners = list(found)
        self._golden: tuple[str, list[Any]] | None = None
        self.base: Any = None

    def reset(self, task: dict[str, Any]) -> None:
        """Go to the initial state of a task."""
        memo = {id(database.pristine): database.restored() for database in self._databases.values()}
        self._env = copy.deepcopy(self._pristine, memo)
        if hasattr(self._env.tools, "set_read_log_allowlist"):
            self._env.tools.set_read_log_allowlist(set(task["logged_reads"]))
        self.base = self.state() if self.base is None else self.base
        if task["initial_state"]:
            state = importlib.import_module("tau2.data_model.tasks").InitialState.model_validate(task["initial_state"])
            actions, history = state.initialization_actions, state.message_history or []
            self._env.set_state(state.initialization_data, actions, history)

    def state(self) -> Any:
        """Return the database, or those of the agent and of the user."""
        tools = {"assistant": self._env.tools, "user": getattr(self._env, "user_tools", None)}
        dumped = {owner: tools[owner].db.model_dump(mode="json") for owner in self._owners}
        return dumped if len(dumped) > 1 else dumped["assistant"]

    def call(self, call: dict[str, Any]) -> tuple[str, str | None]:
        """Carry out a call; some tools refuse with a text instead of an exception."""
        answer = self._env.get_response(self._call(id="", **call))
        refused = answer.error or str(answer.content).startswith("Error")
        return answer.content, answer.content if refused else None

    def describe(self) -> dict[str, Any]:
        """Return what a model is shown by default: tools, tools of the user, policy."""
        env = self._pristine
        kinds = {"tools": env.get_tools, "user_tools": env.get_user_tools if getattr(env, "user_tools", None) else list}
        shown: dict[str, Any] = {
            kind: {tool.name: tool.openai_schema["function"] for tool in tools()} for kind, tools in kinds.items()
        }
        shown["policy"] = env.get_policy()
        with contextlib.suppress(ImportError):
            retrieval = importlib.import_module(f"{self._folder}.retrieval")
            documents = importlib.import_module(f"{self._folder}.environment").get_knowledge_base()
            variant = retrieval.resolve_variant(retrieval.DEFAULT_RETRIEVAL_VARIANT)
            shown["policy"] = retrieval.build_policy(variant, documents)
        return shown

    def judge(self, task: dict[str, Any], gold: dict[str, Any], attempt: dict[str, Any]) -> dict[str, Any]:
        """Compare the databases after an attempt with those after the ground truth, and evaluate the assertions."""
        wanted = self._gold_hashes(task, gold["calls"])
        self.reset(task)
        for call in attempt["calls"]:
            if self._is_replayed(call["name"]):
                self.call(call)
        if hasattr(self._env, "sync_tools"):
            self._env.sync_tools()
        answer: dict[str, Any] = {"database": self._hashes() == wanted, "assertions": [], "actions": []}
        if gold["assertions"] or gold["actions"]:
            known = importlib.import_module("tau2.data_model.tasks")
            assertions = [known.EnvAssertion.model_validate(each) for each in gold["assertions"]]
            run = self._env.run_env_assertion
            answer["assertions"] = [bool(run(each, raise_assertion_error=False)) for each in assertions]
            made = [self._call(id="", **call) for call in attempt["calls"]]
            actions = [known.Action.model_validate(each) for each in gold["actions"]]
            answer["actions"] = [any(each.compare_with_tool_call(call) for call in made) for each in actions]
        return answer

    def _gold_hashes(self, task: dict[str, Any], calls: list[dict[str, Any]]) -> list[Any]:
        """Carry out the ground truth as the evaluator does: a call that fails is passed over."""
        key = json.dumps([task, calls], sort_keys=True)
        if self._golden is None or self._golden[0] != key:
            self.reset(task)
            for call in calls:
                if not hasattr(self._env, "make_tool_call"):
                    self.call(call)
                    continue
                with contextlib.suppress(Exception):
                    self._env.make_tool_call(call["name"], requestor=call["requestor"], **call["arguments"])
            self._golden = key, self._hashes()
        return self._golden[1]

    def _hashes(self) -> list[Any]:
        user = getattr(self._env, "get_user_db_hash", lambda: None)
        return [self._env.get_db_hash(), user()]

    def _is_replayed(self, name: str) -> bool:
        """Tell whether the evaluator carries out a call of a run again: one that can change something."""
        env = self._env
        if not hasattr(env, "_is_mutating_tool"):
            return True
        return bool(env._has_tool(name) and env._is_mutating_tool(name))


class Database:
    """A database that is put back record by record after it was changed: a large one takes a second to copy."""

    def __init__(self, pristine: Any) -> None:
        self.pristine = pristine
        self._now = copy.deepcopy(pristine)
        self._text = pristine.model_dump_json()

    def restored(self) -> Any:
        """Return the database as it was; what was returned before must no longer be used."""
        if self._now.model_dump_json() != self._text:
            for name in type(self.pristine).model_fields:
                before, now = getattr(self.pristine, name), getattr(self._now, name)
                if self._written(name, self.pristine) != self._written(name, self._now):
                    setattr(self._now, name, self._put_back(before, now))
        return self._now

    def _written(self, name: str, database: Any) -> str:
        return str(database.model_dump_json(include={name}))

    def _put_back(self, before: Any, now: Any) -> Any:
        if not isinstance(before, dict) or not isinstance(now, dict):
            return copy.deepcopy(before)
        same = {key for key in before.keys() & now.keys() if _text(before[key]) == _text(now[key])}
        return {key: now[key] if key in same else copy.deepcopy(record) for key, record in before.items()}


def _text(record: Any) -> str:
    if hasattr(record, "model_dump_json"):
        return str(record.model_dump_json())
    return json.dumps(record, default=str)


class Session:
    """One task at a time."""

    def __init__(self, code: TauBench | Tau2) -> None:
        self._code = code

    def serve(self, request: Any) -> Iterator[Any]:
        """Answer one request."""
        if request["do"] == "reset":
            self._code.reset(request["task"])
            yield True
        elif request["do"] == "call":
            text, error = self._code.call(request["call"])
            yield {"text": text, "error": error}
        elif request["do"] == "describe":
            yield self._code.describe()
        elif request["do"] == "snapshot":
            yield _changes(self._code.base, self._code.state())
        else:
            for attempt in request["attempts"]:
                yield self._judged(request, attempt)

    def _judged(self, request: Any, attempt: Any) -> dict[str, Any]:
        try:
            return self._code.judge(request["task"], request["gold"], attempt)
        except MemoryError:
            raise
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}


def _changes(base: Any, now: Any) -> Any:
    """Return the records that differ, by table and id; a record that is gone is null.

    Databases of two owners are compared one by one, and so are tables that keep their records under ``data``.
    """
    if not isinstance(base, dict) or not isinstance(now, dict):
        return now
    if base.keys() == now.keys() == {"assistant", "user"}:
        owners = {owner: _changes(base[owner], now[owner]) for owner in base}
        return {owner: changed for owner, changed in owners.items() if changed}
    names = sorted(base.keys() | now.keys())
    different = [name for name in names if name not in base or name not in now or base[name] != now[name]]
    return {name: _changed(base.get(name), now.get(name)) for name in different}


def _changed(before: Any, after: Any) -> Any:
    """Return the records of a table that differ; what is no table is returned as a whole."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    if "data" in before and "data" in after:
        before, after = before["data"], after["data"]
    return {key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)}
