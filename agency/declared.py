"""What scenarios declare about themselves for evaluations and their reports."""

from agenthard.taxonomy.declared import FAILURE_RATE, Axis, Declared, Factor, Measure

TASKS = Factor(
    name="chain", letter="n", label="tasks", about="how many tasks a scenario has", rising="chains have more tasks"
)
AGENCY = Declared(
    factors=(TASKS,),
    facts=("chain",),
    counts=(
        "tasks",
        "tasks_passed",
        "tasks_passed_first",
        "task_attempts",
        "points",
        "points_first",
        "points_possible",
        "changed_files",
        "judge_requests",
    ),
    measures=(
        Measure(name="s_avg", label="S_avg", better="higher", part="points", whole="points_possible"),
        Measure(name="s_first", label="S_avg at once", better="higher", part="points_first", whole="points_possible"),
        Measure(name="tasks_pass", label="tasks passed", better="higher", part="tasks_passed", whole="tasks"),
        Measure(
            name="tasks_pass_first",
            label="tasks passed at once",
            better="higher",
            part="tasks_passed_first",
            whole="tasks",
        ),
        Measure(
            name="att",
            label="attempts (Att)",
            unit="number",
            better="lower",
            part="task_attempts",
            whole="tasks",
        ),
    ),
    axes=(
        FAILURE_RATE,
        Axis(name="scaffold", letter="scaffold", label="scaffold", condition="scaffold", first=("native",)),
        Axis(name="user", letter="user", label="simulated user", condition="user", first=("template",)),
        Axis(name="rounds", letter="K", label="feedbacks per task", condition="rounds", first=("0",)),
        Axis(name="carry", letter="carry", label="workspace handed on", condition="carry", first=("scenario",)),
        Axis(name="judge", letter="judge", label="judge", condition="judge", first=("rules",)),
    ),
    by_turn=True,
    ending="a scenario passes with 60 % of the points of its tasks, however its attempts ended",
)
"""Factor, counts, measures and axes of scenarios."""
