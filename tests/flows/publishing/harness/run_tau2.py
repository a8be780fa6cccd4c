"""Run by a test in a process of its own: the code of a τ²-bench checkout reads TAU2_DATA_DIR and scores attempts.

Its last line is JSON: the ids that the code runs by default, its lists of ids, and for two tasks with a cancellation
the rewards of the actions of the ground truth and of doing nothing (each loads the database four times).
"""

import importlib
import json
import sys
import types
from typing import Any
from unittest.mock import MagicMock

client = types.ModuleType("litellm")  # the client of models, which neither reading nor scoring asks
vars(client)["__getattr__"] = lambda name: MagicMock(name=name)
vars(client)["__path__"] = []
for part in ("", ".caching", ".caching.caching", ".main", ".types", ".types.utils", ".exceptions"):
    sys.modules[f"litellm{part}"] = client

domain = sys.argv[1]
environment = importlib.import_module(f"tau2.domains.{domain}.environment")
messages = importlib.import_module("tau2.data_model.message")
evaluator = importlib.import_module("tau2.evaluator.evaluator_env").EnvironmentEvaluator


def trajectory(actions: list[Any]) -> list[Any]:
    """The messages of an agent that makes these calls."""
    world, said = environment.get_environment(), []
    for action in actions:
        call = messages.ToolCall(id=action.action_id, name=action.name, arguments=action.arguments)
        said += [messages.AssistantMessage(role="assistant", tool_calls=[call]), world.get_response(call)]
    return said


def reward(task: Any, actions: list[Any]) -> float:
    """What the benchmark's evaluator says of the final state."""
    found = evaluator.calculate_reward(environment.get_environment, task, trajectory(actions))
    return float(found.reward)


tasks = environment.get_tasks()
some = [task for task in tasks if "cancel" in str([each.name for each in task.evaluation_criteria.actions])][:2]
print(
    json.dumps(
        {
            "ids": [task.id for task in tasks],
            "splits": environment.get_tasks_split(),
            "gold": {task.id: reward(task, task.evaluation_criteria.actions or []) for task in some},
            "nothing": {task.id: reward(task, []) for task in some},
            "policy": environment.get_environment().get_policy()[:40],
        }
    )
)
