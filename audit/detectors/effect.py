"""What a shared cause does to the score: the measures of a finding by which tickets are ranked.

Each is counted over the tasks that the finding affects, and added up where findings of one cause are merged.
"""

RUNS = "recorded_runs"
"""Recorded runs with a verdict."""
RUNS_DECIDED = "recorded_runs_decided"
"""Those of them whose verdict the cause decides."""
ANSWERS = "constructed_answers"
"""Answers made for the purpose, of which it is known how they have to be scored."""
ANSWERS_WRONG = "constructed_answers_scored_wrongly"
"""Those of them that are scored otherwise."""
ADDED_UP = (RUNS, RUNS_DECIDED, ANSWERS, ANSWERS_WRONG)
"""All of them."""
