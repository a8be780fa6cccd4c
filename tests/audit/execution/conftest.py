"""Stand-ins for checkouts, written by hand in the documented shape; they are nobody's code."""

from collections.abc import Mapping
from pathlib import Path

import pytest

ACEBENCH = {
    "docs/checker.py": "def normal_checker(*arguments):\n    raise RuntimeError('this is not the checker')\n",
    "broken.py": "def broken(:\n",
    "model_eval/checker.py": """
from model_eval.rules import same_text


def normal_checker(functions, model_output, possible_answer, question, category):
    if category == "normal_loops":
        while True:
            pass
    names = {function["name"]: function["parameters"].get("required", []) for function in functions}
    wanted = dict(possible_answer)
    if len(model_output) != len(wanted):
        return {"valid": False, "error": ["wrong number of functions"], "error_type": "count"}
    for call in model_output:
        [(name, arguments)] = call.items()
        missing = [key for key in names[name] if key not in arguments]
        if missing:
            return {"valid": False, "error": [f"missing {missing}"], "error_type": "required"}
        fitting = [key for key, value in wanted.items() if key.startswith(name) and same_text(value, arguments)]
        if not fitting:
            return {"valid": False, "error": [f"wrong call of {name}"], "error_type": "value"}
        del wanted[fitting[0]]
    return {"valid": True}
""",
    "model_eval/rules.py": """
def same_text(wanted, given):
    return str(wanted).lower() in str(given).lower()
""",
    "scenarios/phone.py": """
class BaseApi:
    def __init__(self):
        self.wifi = False

    def _load_scenario(self, scenario):
        self.wifi = scenario.get("wifi", self.wifi)

    def turn_on_wifi(self):
        self.wifi = True
        return {"status": True, "message": "on"}


class MessageApi(BaseApi):
    def __init__(self, language):
        super().__init__()
        self.language = language
        self.inbox = {1: "Hello"}

    def send_message(self, message, to="all"):
        if not self.wifi:
            return {"status": False, "message": "no network"}
        self.inbox[len(self.inbox) + 1] = message
        return {"status": True}
""",
}

TAU_BENCH = {
    "tau_bench/__init__.py": "",
    "tau_bench/types.py": """
from typing import Any

from pydantic import BaseModel


class Action(BaseModel):
    name: str
    kwargs: dict[str, Any]


class Task(BaseModel):
    user_id: str
    actions: list[Action]
    instruction: str
    outputs: list[str]


class RewardResult(BaseModel):
    reward: float
""",
    "tau_bench/envs/__init__.py": "",
    "tau_bench/envs/user.py": "from litellm import completion\n",
    "tau_bench/envs/base.py": """
import hashlib
import json

from tau_bench.envs.user import completion
from tau_bench.types import RewardResult


class Env:
    def __init__(self, data_load_func, tools):
        self.data_load_func = data_load_func
        self.data = data_load_func()
        self.tools_map = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self.task = None
        self.actions = []

    def get_data_hash(self):
        return hashlib.sha256(json.dumps(self.data, sort_keys=True).encode()).hexdigest()

    def calculate_reward(self):
        reached = self.get_data_hash()
        self.data = self.data_load_func()
        for action in self.task.actions:
            try:
                self.tools_map[action.name].invoke(data=self.data, **action.kwargs)
            except Exception:
                pass
        said = [action.kwargs["content"].lower() for action in self.actions if action.name == "respond"]
        outputs = all(any(text.lower() in reply for reply in said) for text in self.task.outputs)
        return RewardResult(reward=float(reached == self.get_data_hash() and outputs))
""",
    "tau_bench/envs/airline/__init__.py": "",
    "tau_bench/envs/airline/env.py": """
import json
from pathlib import Path

from tau_bench.envs.base import Env


def load_data():
    return json.loads(Path(__file__).with_name("users.json").read_text())


class Rename:
    @staticmethod
    def invoke(data, user_id, name):
        if user_id not in data["users"]:
            return "Error: user not found"
        data["users"][user_id]["name"] = name
        return "renamed"

    @staticmethod
    def get_info():
        return {"type": "function", "function": {"name": "rename"}}


class MockAirlineDomainEnv(Env):
    def __init__(self, user_strategy, user_model, user_provider=None, task_split="test", task_index=None):
        super().__init__(load_data, [Rename])
""",
    "tau_bench/envs/airline/users.json": '{"users": {"u1": {"name": "Ann"}, "u2": {"name": "Bob"}}}',
}

TAU2 = {
    "src/tau2/__init__.py": "",
    "src/tau2/data_model/__init__.py": "",
    "src/tau2/data_model/message.py": """
from typing import Any

from pydantic import BaseModel


class ToolCall(BaseModel):
    id: str
    name: str
    arguments: dict[str, Any]
    requestor: str = "assistant"


class ToolMessage(BaseModel):
    content: str
    error: bool = False
""",
    "src/tau2/domains/__init__.py": "",
    "src/tau2/domains/airline/__init__.py": "",
    "src/tau2/domains/airline/environment.py": """
import hashlib
import json
from types import SimpleNamespace

from pydantic import BaseModel
from tau2.data_model.message import ToolMessage


class Database(BaseModel):
    users: dict[str, dict[str, str]]


class Environment:
    def __init__(self):
        self.tools = SimpleNamespace(db=Database(users={"u1": {"name": "Ann"}}))

    def get_response(self, call):
        if call.name != "rename" or call.arguments["user_id"] not in self.tools.db.users:
            return ToolMessage(content="Error: cannot do that", error=True)
        self.tools.db.users[call.arguments["user_id"]]["name"] = call.arguments["name"]
        return ToolMessage(content="renamed")

    def get_db_hash(self):
        text = json.dumps(self.tools.db.model_dump(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def get_environment():
    return Environment()
""",
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def acebench(tmp_path: Path) -> Path:
    return write(tmp_path / "acebench", ACEBENCH)


@pytest.fixture
def tau_bench(tmp_path: Path) -> Path:
    return write(tmp_path / "tau-bench", TAU_BENCH)


@pytest.fixture
def tau2(tmp_path: Path) -> Path:
    return write(tmp_path / "tau2-bench", TAU2)
