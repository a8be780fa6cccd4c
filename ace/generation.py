"""ACE-Bench as something that can be generated (entry-point group ``agenthard.generators``)."""

from collections.abc import Iterator, Mapping
from typing import Any

from agenthard.ace.generator import Parameters, generate, generator_of
from agenthard.ace.instance import Instance
from agenthard.ace.storage import SUITES
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_PLAYED = 48
"""Sound instances that agents without a model play, so that there are runs to plant flaws into."""


class AceGenerator:
    """Generates suites of proved instances."""

    parameters = Parameters
    suites = SUITES

    def asked(self, parameters: Parameters) -> Mapping[str, Any]:
        """Returns what ``suite.json`` says about how the suite was made."""
        asked = parameters.model_dump(mode="json", exclude=None if parameters.query_plans else {"query_plans"})
        return {"generator": generator_of(parameters), **asked}

    def count(self, parameters: Parameters) -> int:
        """Returns how many instances a suite has."""
        return parameters.count

    def generate(self, parameters: Parameters, start: int = 0, workers: int = 1) -> Iterator[Instance]:
        """Yields the instances of a suite from a position on; see :func:`agenthard.ace.generator.generate`."""
        return generate(parameters, start, workers)

    def sound(self, count: int, seed: int) -> Iterator[tuple[AgentTask, list[Trajectory]]]:
        """Yields at least ``count`` small proved instances of all domains, some with the runs of agents."""
        from agenthard.ace.agents import LEADERBOARD
        from agenthard.ace.audit_task import reference_origins, task_of
        from agenthard.ace.evaluation import AceConditions, AceTask

        hidden, budgets = (2, 3, 4), (2, 4, 6)
        cells = len(hidden) * len(budgets) * 6
        parameters = Parameters(
            rows=4,
            cols=5,
            hidden_slots=hidden,
            decoy_budgets=budgets,
            candidates=10,
            per_cell=-(-count // cells),
            seed=seed,
        )
        for index, instance in enumerate(generate(parameters)):
            task = task_of("ace", instance.id, instance, reference_origins("generated", index))
            runs: list[Trajectory] = []
            if index % max(1, count // _PLAYED) == 0:
                played = AceTask(task.id, instance, AceConditions(), seed)
                runs = [played.play(agent, condition="", failure_rate=0.0, trial=0) for agent in LEADERBOARD]
            yield task, runs
