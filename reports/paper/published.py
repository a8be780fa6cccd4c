"""The figures that the audit paper printed, each with its table. A figure that is not known is said to be unknown."""

from agenthard.reports.paper.record import PublishedFigure

TAU = "tau-bench"
LEADERBOARD: tuple[tuple[float, float, float], ...] = (
    *((0.685, 0.711, 0.652), (0.667, 0.719, 0.697), (0.667, 0.686, 0.629), (0.642, 0.636, 0.573)),
    *((0.636, 0.645, 0.596), (0.624, 0.669, 0.618), (0.624, 0.669, 0.640), (0.594, 0.603, 0.573)),
    *((0.588, 0.579, 0.528), (0.582, 0.620, 0.551), (0.558, 0.562, 0.539), (0.479, 0.512, 0.461)),
    *((0.455, 0.471, 0.449), (0.436, 0.463, 0.382), (0.406, 0.430, 0.404), (0.194, 0.174, 0.146)),
)
"""Table 5, τ-bench: scores of 16 models on the initial, issue-filtered and hard version, in initial rank order."""
VERSIONS = ("initial", "issue-filtered", "hard")
_TWO_SPLITS = "Table 5 needs 89 tasks in the hard split and Table 10 says 110: two different splits"


def _figure(
    id: str, paper: str, what: str, value: float | None, digits: int, unit: str, note: str = "", benchmark: str = TAU
) -> PublishedFigure:
    return PublishedFigure(
        id=id, paper=paper, benchmark=benchmark, what=what, value=value, digits=digits, unit=unit, note=note
    )


COMPONENTS = tuple(
    _figure(f"component-{name}", "Table 2", f"share of issues in the component {name}", value, 3, "share")
    for name, value in (("user", 0.210), ("environment", 0.306), ("evaluation", 0.226), ("ground_truth", 0.258))
)
ALIGNMENT = (
    _figure("precision", "Table 4", "precision against human labels", 0.786, 3, "score", "on the paper's own labels"),
    _figure("recall", "Table 4", "recall against human labels", 0.733, 3, "score", "on the paper's own labels"),
    _figure("f1", "Table 4", "F1 against human labels", 0.759, 3, "score", "on the paper's own labels"),
)
SCORES = tuple(
    _figure(
        f"score-{rank}-{version}", "Table 5", f"score of the model with initial rank {rank}, {version}", v, 3, "score"
    )
    for rank, row in enumerate(LEADERBOARD, 1)
    for version, v in zip(VERSIONS, row, strict=True)
)
RANK_CHANGES = (
    _figure("change-rate-filtered", "Table 9", "models that change rank, issue-filtered", 0.562, 3, "share"),
    _figure("rank-shift-filtered", "Table 9", "mean rank shift, issue-filtered", 0.88, 2, "ranks"),
    _figure("indistinguishable-initial", "Table 9", "indistinguishable models, initial", 8, 0, "models"),
    _figure("indistinguishable-filtered", "Table 9", "indistinguishable models, issue-filtered", 8, 0, "models"),
    _figure("change-rate-hard", "Table 9", "models that change rank, hard", 0.75, 3, "share"),
    _figure("rank-shift-hard", "Table 9", "mean rank shift, hard", 1.12, 2, "ranks"),
    _figure("indistinguishable-hard", "Table 9", "indistinguishable models, hard", 2, 0, "models"),
)
STAGE_WISE = (
    _figure("tasks-initial", "Table 10", "tasks, initial", 165, 0, "sum"),
    _figure("models-initial", "Table 10", "models, initial", 16, 0, "sum"),
    _figure("agreement-initial", "Table 10", "model agreement, initial", 0.657, 3, "score"),
    _figure("separability-initial", "Table 10", "separability with confidence, initial", 0.475, 3, "score"),
    _figure("tasks-filtered", "Table 5", "tasks, issue-filtered", 121, 0, "sum", "165 without 44 tasks"),
    _figure("tasks-hard", "Table 10", "tasks, hard", 110, 0, "sum", _TWO_SPLITS),
    _figure("tasks-hard-leaderboard", "Table 5", "tasks behind the hard scores", 89, 0, "sum", _TWO_SPLITS),
)
OVERALL = tuple(
    _figure(
        id,
        "compression over all benchmarks",
        "pooled or macro compression over six benchmarks",
        value,
        3,
        "share",
        "printed next to the other one; which is pooled and which is macro, and after which stage, is not known here",
        "",
    )
    for id, value in (("compression-a", 0.450), ("compression-b", 0.561))
)
UNKNOWN = (
    _figure("stages-others", "Tables 11–15", "stage-wise rows of the other five benchmarks", None, 0, "score",
            "their printed values are not known here, and one mixes shares of 55 with shares of 120 tasks", ""),
    _figure("diversity", "Table 4", "diversity of prompts", None, 0, "distance",
            "the printed values are not known here; the paper embeds with Qwen3-Embedding-8B", ""),
    _figure("judges", "Table 6", "agreement of several judges", None, 0, "score", "not known here", ""),
    _figure("failure-modes", "Table 8", "shares of failure modes of the judge", None, 0, "share", "not known here", ""),
    _figure("retention", "Figures 5, 7, 8", "share of each subtask that stays", None, 0, "share", "not known here", ""),
    _figure("agreement-map", "Figure 4", "agreement of each pair of models", None, 0, "share", "not known here", ""),
)  # fmt: skip
