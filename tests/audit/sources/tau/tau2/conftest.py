"""A small checkout of τ²-bench written by hand: airline with tools as JSON, telecom with tools as Python."""

import json
from pathlib import Path
from typing import Any

import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name}.",
            "parameters": {"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]},
        },
        "x_tool_type": kind,
        "x_returns": {"$ref": "#/$defs/Seat", "description": "The seat."},
        "x_raises": [],
    }
    for name, kind in (("find_seat", "read"), ("take_seat", "write"), ("calculate", "generic"), ("odd", "novel"))
]
FIRST: dict[str, Any] = {
    "id": "0",
    "description": {"purpose": "Refuse a refund.", "relevant_policies": None, "notes": "Old case."},
    "user_scenario": {
        "persona": None,
        "instructions": {
            "task_instructions": "Insist twice.",
            "domain": "airline",
            "reason_for_call": "You want a refund.",
            "known_info": "You are Ada, seat A1.",
            "unknown_info": None,
        },
    },
    "initial_state": None,
    "evaluation_criteria": {
        "actions": [{"action_id": "0_0", "name": "find_seat", "arguments": {"seat": "A1"}, "info": None}],
        "communicate_info": ["1144"],
        "nl_assertions": ["Agent refuses."],
    },
    "annotations": None,
}
SECOND: dict[str, Any] = {
    "id": "1",
    "user_scenario": {"persona": "Short.", "instructions": "Just say hello."},
    "evaluation_criteria": {"actions": [], "communicate_info": [], "reward_basis": ["COMMUNICATE"]},
}
CALL: dict[str, Any] = {
    "id": "[roaming]off|abroad[PERSONA:Hard]",
    "description": {"purpose": "Test roaming."},
    "user_scenario": {
        "persona": "You are impatient.",
        "instructions": {
            "task_instructions": "Follow the agent.",
            "domain": "telecom",
            "reason_for_call": "No data abroad.",
            "known_info": "You are Bo.",
        },
    },
    "ticket": "Bo has no data abroad.",
    "initial_state": {"initialization_actions": [{"env_type": "user", "func_name": "go_abroad", "arguments": {}}]},
    "evaluation_criteria": {
        "actions": [
            {"action_id": "a", "requestor": "user", "name": "toggle_roaming", "arguments": {}, "compare_args": None},
            {"action_id": "b", "name": "transfer", "arguments": {"s": "x"}, "compare_args": []},
        ],
        "env_assertions": [
            {"env_type": "user", "func_name": "assert_data", "arguments": {"on": True}, "assert_value": True}
        ],
        "communicate_info": ["done"],
        "reward_basis": ["ENV_ASSERTION", "ACTION"],
    },
}
ASSERTED: dict[str, Any] = {**CALL, "id": "[roaming]off|abroad[PERSONA:None]"}
ASSERTED["evaluation_criteria"] = {**CALL["evaluation_criteria"], "reward_basis": ["ENV_ASSERTION"]}

TOOLS_PY = '''"""Tools of the telecom domain."""
from typing import Any, Dict, List, Literal, Optional, Union

from tau2.domains.telecom.data_model import Line, Plan, Speed
from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool

raise RuntimeError("this file must never be imported")


class TelecomTools(ToolKitBase):
    """Tools."""

    def _hidden(self) -> None:
        pass

    @is_tool(ToolType.WRITE)
    def set_speed(
        self,
        line: Line,
        speed: Union[Speed, str],
        days: Optional[int] = None,
        mode: Literal["now", "later"] = "now",
        plans: List[Plan | dict] = [],
        default: Speed = Speed.FAST,
    ) -> Dict[str, Any]:
        """Sets the speed.
        Only for active lines.

        More text.

        Args:
            line: The line to change.
            speed (Speed): The new speed,
                such as "fast".
            mode: When.

        Returns:
            Line: The changed line.

        Raises:
            ValueError: If there is no line.
        """
        return {}

    @is_tool(ToolType.GENERIC)
    def transfer(self, summary) -> str:
        """Hand over."""
        return summary

    @is_tool()
    def get_line(self, *, number: str):
        return number
'''
DATA_MODEL_PY = '''from enum import Enum
from typing import Annotated, Literal, Optional

from pydantic import BaseModel, Field

Kind = Literal["mobile", "fixed"]


class Speed(str, Enum):
    """How fast."""

    SLOW = "slow"
    FAST = "fast"


class Base(BaseModel):
    number: str = Field(..., description="Phone number")


class Line(Base):
    kind: Kind
    active: bool = Field(default=True, description="Whether it works")
    tags: list[str] = Field(default_factory=list)
    owner: Optional["Person"] = None


class Plan(BaseModelNoExtra):
    """A plan."""

    name: Annotated[str, Field(description="Name of the plan")]
    speed: Speed = Speed.SLOW
    unknown: SomethingElse = None


class Person(BaseModel):
    lines: list[Line]
'''
USER_TOOLS_PY = '''class TelecomUserTools(ToolKitBase):
    @is_tool(ToolType.WRITE)
    def toggle_roaming(self) -> str:
        """Toggles roaming."""
        return ""
'''


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with two domains."""
    root = tmp_path / "tau2-bench_v0.1.3"
    airline = root / "data" / "tau2" / "domains" / "airline"
    write(airline / "tasks.json", [FIRST, SECOND])
    write(airline / "tools.json", TOOLS)
    write(airline / "policy.md", "# Airline policy\n")
    write(airline / "db.json", {"seats": {"A1": "Ada"}})
    telecom = root / "data" / "tau2" / "domains" / "telecom"
    write(telecom / "tasks.json", [CALL, ASSERTED])
    write(telecom / "main_policy.md", "Main.")
    write(telecom / "tech_support_manual.md", "Manual.")
    write(telecom / "tech_support_workflow.md", "Workflow.")
    write(telecom / "db.toml", '[[lines]]\nnumber = "555"\nsince = 2025-01-20T14:30:00\n')
    write(telecom / "user_db.toml", "[device]\non = true\n")
    code = root / "src" / "tau2" / "domains" / "telecom"
    write(code / "tools.py", TOOLS_PY)
    write(code / "data_model.py", DATA_MODEL_PY)
    write(code / "user_tools.py", USER_TOOLS_PY)
    return root
