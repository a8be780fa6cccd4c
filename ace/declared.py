"""What ACE-Bench declares about itself for evaluations and their reports."""

from agenthard.taxonomy.declared import Declared, Factor

ACE = Declared(
    factors=(
        Factor(
            name="hidden_slots",
            letter="H",
            label="hidden slots",
            about="how many slots an agent has to fill",
            rising="more slots are hidden",
        ),
        Factor(
            name="decoy_budget",
            letter="B",
            label="decoys",
            about="how many decoys the whole instance holds",
            rising="there are more decoys",
            column="branch_budget",
        ),
    ),
    facts=("hidden_slots", "decoy_budget"),
    counts=("queries", "global_checks"),
    steps="messages",
    ending="a correct grid passes even if the agent never declared it done",
    # The paper's Table 2: 6 values of H × 9 of B, one trial.
    instances_per_group=54,
)
"""Factors, counts and words of ACE-Bench."""
