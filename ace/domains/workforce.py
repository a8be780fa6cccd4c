"""Workers on the shifts of a week."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="workforce",
    id_key="worker_id",
    id_prefix="W",
    naming=Naming(labels={"": ("Worker",)}),
    attributes=(
        Number(name="skill", low=1, high=5),
        Number(name="hourly_cost", low=20, high=100),
        Number(name="experience", low=1, high=20),
        Choice(
            name="department",
            values=("assembly", "dispatch", "inspection", "packing", "repair", "reception"),
        ),
        Number(name="reliability", low=1, high=5),
        Number(name="overtime_capacity", low=0, high=10),
    ),
    slot_rules=(
        SlotRule(name="min_skill", bound=Bound.MIN, attribute="skill", thresholds=(1, 2, 3, 4)),
        SlotRule(name="max_cost", bound=Bound.MAX, attribute="hourly_cost", thresholds=(45, 60, 75, 90, 100)),
        SlotRule(name="min_experience", bound=Bound.MIN, attribute="experience", thresholds=(1, 4, 8, 12)),
    ),
    global_rules=(
        GlobalRule(name="total_cost_max", kind=GlobalKind.SUM_MAX, attribute="hourly_cost", slack=160, limit=100),
        GlobalRule(name="total_skill_min", kind=GlobalKind.SUM_MIN, attribute="skill", slack=15, limit=0),
        GlobalRule(
            name="senior_shift_min", kind=GlobalKind.COUNT_MIN_THRESHOLD, attribute="experience", counted=12, slack=2
        ),
        GlobalRule(name="same_department_week_max", kind=GlobalKind.REPEAT_MAX, attribute="department"),
        GlobalRule(name="total_reliability_min", kind=GlobalKind.SUM_MIN, attribute="reliability", slack=18, limit=1),
        GlobalRule(
            name="total_overtime_min", kind=GlobalKind.SUM_MIN, attribute="overtime_capacity", slack=40, limit=0
        ),
    ),
    wording=Wording(
        task="workforce scheduling",
        grid=(
            "This workforce scheduling plan has {rows} work days as rows "
            "and {cols} shift slots to staff per day as columns."
        ),
        item="worker",
        items="workers",
    ),
)
