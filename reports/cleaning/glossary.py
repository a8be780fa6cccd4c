"""What the words of the report mean, one sentence each."""

from agenthard.reports.cleaning.analysis import Term

GLOSSARY = tuple(
    Term(term=term, sentence=sentence)
    for term, sentence in {
        "initial split": "The benchmark as it was read, without tasks whose record could not be read.",
        "issue-cleaned split": "The initial split without the tasks that the policy drops; tasks under review stay in.",
        "hard split": "The issue-cleaned split without tasks that nearly all models solve and those that all fail.",
        "split id": "Hash of the task ids; scores may be compared only under one split id.",
        "under review": "A task with a suspected flaw, or one that was not fully checked, that waits for a person.",
        "comparable model": "A model that attempted every task of the benchmark in the chosen experiment.",
        "infrastructure error": "A run that broke for reasons outside the model; it has no verdict and is no failure.",
        "null": "What the same figure does when as many tasks are deleted at random; without it a change means little.",
        "5–95 % band": "The middle 90 % of the null; a figure inside it does not differ from deleting random tasks.",
        "percentile": "The share of random deletions that give a smaller figure (half of the equal ones counted).",
        "model agreement": "Mean share of tasks on which two models are both right or both wrong; low separates more.",
        "chance-corrected agreement": "Agreement between that of independent models (0) and the most possible (1), "
        "because raw agreement moves with the mean score alone.",
        "separability with confidence": "Share of pairs of models whose bootstrap intervals do not even touch.",
        "paired separability": "Share of pairs of models that differ in a paired test after Holm's correction.",
        "tied set": "Neighbouring ranks in which no pair of models differs significantly.",
        "rank interval": "Ranks a model takes in the middle 95 % of bootstrap resamples of the tasks.",
        "P(top-1 unchanged)": "Share of bootstrap resamples of the tasks in which the leading model stays first.",
        "ranking change rate": "Share of models whose ordinal rank differs; ties keep the initial order.",
        "average rank shift": "Mean of the absolute change of rank over all models.",
        "indistinguishable models": "Models within 0.01 of the first of their group, walking down the ranking (the "
        "audit paper's rule); the threshold means different things for different numbers of tasks.",
        "Kendall τ-b": "Rank correlation of two sets of scores that corrects for ties; 1 is the same order.",
        "minimum detectable difference": "Smallest difference of two models' scores that a split of this size finds "
        "with 95 % confidence in 80 % of cases.",
        "diversity": "Mean cosine distance between the prompts of two tasks.",
        "compression": "Share of tasks that a stage removes.",
        "retention": "Share of a category's tasks that a split keeps.",
        "cross-fitted": "Scored on the tasks that the other models selected, so that no outcome selects its own task.",
        "score bounds": "The lowest and highest score a model can get if the undecided tasks are kept or dropped.",
        "difficulty": "In a 2PL the log-odds that an average model fails the task.",
        "discrimination": "How sharply success rises with ability; a negative value often means a wrong answer key.",
        "Wilson interval": "Interval of a rate that holds for small numbers and for rates of 0 and 1.",
        "clustered standard error": "Standard error that counts variants of one task, or repeated runs of it, as one.",
    }.items()
)
