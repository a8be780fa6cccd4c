"""What escape rooms declare about themselves for evaluations and their reports."""

from pathlib import Path

from agenthard.escape.environment.conditions import Feedback
from agenthard.escape.environment.tally import COUNTS
from agenthard.taxonomy.declared import FAILURE_RATE, Axis, Declared, Factor, Measure

NODES = Factor(
    name="nodes",
    letter="n",
    label="parts",
    about="how many parts a room has",
    rising="rooms have more parts",
)
MEASURES = (
    Measure(name="subgoals", label="Sub: parts resolved", better="higher", part="resolved", whole="parts"),
    Measure(
        name="discovery",
        label="Disc: hidden parts seen",
        better="higher",
        part="hidden_seen",
        whole="hidden_parts",
        undefined="the room hides nothing",
    ),
    Measure(
        name="convergence",
        label="uses until a first part is resolved",
        unit="number",
        better="lower",
        part="first_parts_calls",
        whole="first_parts_resolved",
        pooled=True,
        undefined="no part that depends on nothing was resolved",
    ),
    Measure(
        name="premature",
        label="premature uses",
        better="lower",
        part="premature_uses",
        whole="dependent_uses",
        pooled=True,
        undefined="no dependent part was used",
    ),
    Measure(
        name="adherence",
        label="uses that follow the clues",
        better="higher",
        part="adherent_uses",
        whole="dependent_uses",
        pooled=True,
        undefined="no dependent part was used",
    ),
    Measure(
        name="param_adherence",
        label="parameters that follow the clues",
        better="higher",
        part="adherent_params",
        whole="wired_params",
        pooled=True,
        undefined="no dependent part was used",
    ),
    Measure(
        name="effort",
        label="calls over the fewest, solved rooms",
        unit="number",
        better="lower",
        part="calls",
        whole="min_calls",
        passed_only=True,
        undefined="the room was not solved",
    ),
)
"""Scores and diagnostics, each undefined where there is nothing to be a share of."""

ESCAPE = Declared(
    factors=(NODES,),
    facts=("nodes", "hidden", "min_calls", "min_turns"),
    counts=COUNTS,
    measures=MEASURES,
    axes=(
        FAILURE_RATE,
        Axis(
            name="feedback",
            letter="feedback",
            label="feedback",
            condition="feedback",
            first=(Feedback.PER_PARAM, Feedback.BINARY, Feedback.NONE),
        ),
        Axis(name="turns_allowed", letter="turns", label="turns allowed", condition="turns", first=("0",)),
    ),
    ending="a room is solved when the right answer was submitted, whatever was left unresolved",
    published=(Path(__file__).parent / "published.csv",),
)
"""Factors, counts, measures, axes and words of escape rooms."""
