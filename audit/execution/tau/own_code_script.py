"""Runs the code of τ-bench or τ²-bench under the checkout's interpreter. It must not import our package."""

import contextlib
import copy
import importlib
import inspect
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
tables: Any = importlib.import_module("own_code_tables")
sys.path.pop()


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
        self._tables = tables.Tables(json.dumps(self._env.data_load_func()))
        self._env.data_load_func = self._tables.restored
        self._env.get_data_hash = self._hash_of_changes

    def reset(self, task: dict[str, Any]) -> None:
        """Load the database again; tasks of this benchmark have no state of their own."""
        self._env.data = self._env.data_load_func()

    def snapshot(self) -> Any:
        """Return the changed records, by table."""
        return self._tables.changes(self._env.data)

    def call(self, call: dict[str, Any]) -> tuple[str, str | None]:
        """Execute a call as ``Env.step`` does."""
        name = call["name"]
        if name not in self._env.tools_map:
            return f"Unknown action {name}", f"no such tool: {name!r}"
        try:
            text = self._env.tools_map[name].invoke(data=self._env.data, **call["arguments"])
        except Exception as error:
            return f"Error: {error}", f"{type(error).__name__}: {error}"
        return text, text if text.startswith("Error") else None

    def describe(self) -> dict[str, Any]:
        """Return what a model is shown: tools and policy."""
        shown = {info["function"]["name"]: info["function"] for info in self._env.tools_info}
        return {"tools": shown, "user_tools": {}, "policy": self._env.wiki}

    def holds(self, state: Any) -> bool:
        """Tell whether the database equals a given one."""
        return not self._tables.changes(state)

    def judge(self, task: dict[str, Any], gold: dict[str, Any], attempt: dict[str, Any]) -> dict[str, Any]:
        """Let the environment compute the reward of an attempt."""
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
        """Let the environment hash the changed records only: hashing all takes two seconds."""
        whole = self._env.data
        try:
            self._env.data = self._tables.changes(whole)
            return type(self._env).get_data_hash(self._env)
        finally:
            self._env.data = whole


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
        self._databases = {owner: tables.Database(model) for owner, model in found.items()}
        self._golden: tuple[str, list[Any]] | None = None

    def reset(self, task: dict[str, Any]) -> None:
        """Go to the initial state of a task."""
        memo = {id(database.pristine): database.restored() for database in self._databases.values()}
        self._env = copy.deepcopy(self._pristine, memo)
        if hasattr(self._env.tools, "set_read_log_allowlist"):
            self._env.tools.set_read_log_allowlist(set(task["logged_reads"]))
        if task["initial_state"]:
            state = importlib.import_module("tau2.data_model.tasks").InitialState.model_validate(task["initial_state"])
            actions, history = state.initialization_actions, state.message_history or []
            self._env.set_state(state.initialization_data, actions, history)

    def snapshot(self) -> Any:
        """Return the changed records, by table; where the user has a database, by owner first."""
        changed = {owner: kept.changes(self._tools(owner).db) for owner, kept in self._databases.items()}
        if len(changed) == 1:
            return next(iter(changed.values()))
        return {owner: records for owner, records in changed.items() if records}

    def holds(self, state: Any) -> bool:
        """Tell whether the databases equal given ones; missing fields have their defaults."""
        given = state if len(self._databases) > 1 else {"assistant": state}
        for owner, kept in self._databases.items():
            read = type(kept.pristine).model_validate(given[owner])
            if read.model_dump_json() != kept.pristine.model_dump_json():
                return False
        return True

    def _tools(self, owner: str) -> Any:
        return self._env.tools if owner == "assistant" else self._env.user_tools

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
        """Carry out the ground truth as the evaluator does: a call that fails is skipped."""
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
        """Let the environment hash the changed records only, because hashing all takes long."""
        whole = {owner: self._tools(owner).db for owner in self._databases}
        missing = []
        try:
            for owner, database in whole.items():
                self._tools(owner).db, gone = self._databases[owner].reduced(database)
                missing.append(gone)
            user = getattr(self._env, "get_user_db_hash", lambda: None)
            return [self._env.get_db_hash(), user(), missing]
        finally:
            for owner, database in whole.items():
                self._tools(owner).db = database

    def _is_replayed(self, name: str) -> bool:
        """Tell whether the evaluator repeats a call of a run, which it does for calls that can change something."""
        env = self._env
        if not hasattr(env, "_is_mutating_tool"):
            return True
        return bool(env._has_tool(name) and env._is_mutating_tool(name))


class Session:
    """Serves requests about one task at a time."""

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
        elif request["do"] == "holds":
            yield self._code.holds(request["state"])
        elif request["do"] == "snapshot":
            yield self._code.snapshot()
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
