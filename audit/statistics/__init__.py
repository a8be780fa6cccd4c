"""Statistics of score matrices, rankings, prompts and raters; each result carries its n, method and seed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenthard.audit.statistics.agreement import chance_corrected_agreement, model_agreement
    from agenthard.audit.statistics.anchors import ItemBank, ability, anchor_estimate, gpirt_estimate, pirt_estimate
    from agenthard.audit.statistics.bounds import ScoreBounds, score_bounds
    from agenthard.audit.statistics.category_retention import SAFEGUARD, CategoryRetention, category_coverage, retention
    from agenthard.audit.statistics.clustered import clustered_mean, paired_difference
    from agenthard.audit.statistics.detectable import detectable_difference, minimum_detectable_difference
    from agenthard.audit.statistics.diversity import mean_nearest_neighbour_distance, mean_pairwise_distance
    from agenthard.audit.statistics.easy import easy_tasks, keep_some
    from agenthard.audit.statistics.embedding import (
        Embedder,
        HashingEmbedder,
        SentenceTransformerEmbedder,
        TfidfEmbedder,
        embedder,
    )
    from agenthard.audit.statistics.indistinguishable import (
        PAPER_THRESHOLD,
        close_pairs,
        indistinguishable_groups,
        indistinguishable_models,
    )
    from agenthard.audit.statistics.intervals import wilson
    from agenthard.audit.statistics.item_response import ItemParameters, ItemResponse, item_parameters
    from agenthard.audit.statistics.kappa import cohen_kappa
    from agenthard.audit.statistics.krippendorff import krippendorff_alpha
    from agenthard.audit.statistics.loading import (
        Infrastructure,
        matrix_from_frame,
        matrix_from_rows,
        matrix_from_trajectories,
        read_matrix,
    )
    from agenthard.audit.statistics.matrix import (
        DifferentModelsError,
        MatrixError,
        Missing,
        ScoreMatrix,
        require_same_models,
    )
    from agenthard.audit.statistics.nulls import NullDistribution, matrix_null, random_subset_null
    from agenthard.audit.statistics.paired_tests import (
        PairComparison,
        PairedTest,
        compare_pairs,
        holm,
        mcnemar_exact,
        paired_separability,
    )
    from agenthard.audit.statistics.pass_k import pass_at_k, pass_hat_k, trial_counts
    from agenthard.audit.statistics.precision import prevalence_adjusted_precision
    from agenthard.audit.statistics.proportion import (
        UndecidedShare,
        clopper_pearson_interval,
        share_with_undecided,
        wilson_interval,
    )
    from agenthard.audit.statistics.rank_nulls import RankChangeNulls, rank_change_nulls
    from agenthard.audit.statistics.ranking import (
        RankMove,
        average_rank_shift,
        kendall_tau_b,
        ordinal_ranks,
        rank_moves,
        ranking_change_rate,
    )
    from agenthard.audit.statistics.result import Estimate, Result, Undefined
    from agenthard.audit.statistics.separation import (
        ARENA_HARD_LEVEL,
        arena_hard_separability,
        score_intervals,
        separability,
        share_of_disjoint_intervals,
    )
    from agenthard.audit.statistics.stability import rank_intervals, top_unchanged
    from agenthard.audit.statistics.stage_compression import (
        StageCompression,
        compression,
        macro_compression,
        pooled_compression,
        stage_compressions,
    )
    from agenthard.audit.statistics.ties import tied_sets

_MODULES = {
    "agreement": (
        "chance_corrected_agreement",
        "model_agreement",
    ),
    "anchors": (
        "ItemBank",
        "ability",
        "anchor_estimate",
        "gpirt_estimate",
        "pirt_estimate",
    ),
    "clustered": (
        "clustered_mean",
        "paired_difference",
    ),
    "stage_compression": (
        "StageCompression",
        "compression",
        "macro_compression",
        "pooled_compression",
        "stage_compressions",
    ),
    "detectable": (
        "detectable_difference",
        "minimum_detectable_difference",
    ),
    "diversity": (
        "mean_nearest_neighbour_distance",
        "mean_pairwise_distance",
    ),
    "easy": (
        "easy_tasks",
        "keep_some",
    ),
    "embedding": (
        "Embedder",
        "HashingEmbedder",
        "SentenceTransformerEmbedder",
        "TfidfEmbedder",
        "embedder",
    ),
    "indistinguishable": (
        "PAPER_THRESHOLD",
        "close_pairs",
        "indistinguishable_groups",
        "indistinguishable_models",
    ),
    "item_response": (
        "ItemParameters",
        "ItemResponse",
        "item_parameters",
    ),
    "intervals": ("wilson",),
    "kappa": ("cohen_kappa",),
    "krippendorff": ("krippendorff_alpha",),
    "loading": (
        "Infrastructure",
        "matrix_from_frame",
        "matrix_from_rows",
        "matrix_from_trajectories",
        "read_matrix",
    ),
    "matrix": (
        "DifferentModelsError",
        "MatrixError",
        "Missing",
        "ScoreMatrix",
        "require_same_models",
    ),
    "nulls": (
        "NullDistribution",
        "matrix_null",
        "random_subset_null",
    ),
    "paired_tests": (
        "PairComparison",
        "PairedTest",
        "compare_pairs",
        "holm",
        "mcnemar_exact",
        "paired_separability",
    ),
    "pass_k": (
        "pass_at_k",
        "pass_hat_k",
        "trial_counts",
    ),
    "precision": ("prevalence_adjusted_precision",),
    "proportion": (
        "UndecidedShare",
        "clopper_pearson_interval",
        "share_with_undecided",
        "wilson_interval",
    ),
    "rank_nulls": (
        "RankChangeNulls",
        "rank_change_nulls",
    ),
    "ranking": (
        "RankMove",
        "average_rank_shift",
        "kendall_tau_b",
        "ordinal_ranks",
        "rank_moves",
        "ranking_change_rate",
    ),
    "result": (
        "Estimate",
        "Result",
        "Undefined",
    ),
    "category_retention": (
        "SAFEGUARD",
        "CategoryRetention",
        "category_coverage",
        "retention",
    ),
    "bounds": (
        "ScoreBounds",
        "score_bounds",
    ),
    "separation": (
        "ARENA_HARD_LEVEL",
        "arena_hard_separability",
        "score_intervals",
        "separability",
        "share_of_disjoint_intervals",
    ),
    "stability": (
        "rank_intervals",
        "top_unchanged",
    ),
    "ties": ("tied_sets",),
}
"""Names by the module that defines them: a module is imported when one of its names is used, scipy with it."""

__all__ = [
    "ARENA_HARD_LEVEL",
    "CategoryRetention",
    "DifferentModelsError",
    "Embedder",
    "Estimate",
    "HashingEmbedder",
    "Infrastructure",
    "ItemBank",
    "ItemParameters",
    "ItemResponse",
    "MatrixError",
    "Missing",
    "NullDistribution",
    "PAPER_THRESHOLD",
    "PairComparison",
    "PairedTest",
    "RankChangeNulls",
    "RankMove",
    "Result",
    "SAFEGUARD",
    "ScoreBounds",
    "ScoreMatrix",
    "SentenceTransformerEmbedder",
    "StageCompression",
    "TfidfEmbedder",
    "UndecidedShare",
    "Undefined",
    "ability",
    "anchor_estimate",
    "arena_hard_separability",
    "average_rank_shift",
    "category_coverage",
    "chance_corrected_agreement",
    "clopper_pearson_interval",
    "close_pairs",
    "clustered_mean",
    "cohen_kappa",
    "compare_pairs",
    "compression",
    "detectable_difference",
    "easy_tasks",
    "embedder",
    "gpirt_estimate",
    "holm",
    "indistinguishable_groups",
    "indistinguishable_models",
    "item_parameters",
    "keep_some",
    "kendall_tau_b",
    "krippendorff_alpha",
    "macro_compression",
    "matrix_from_frame",
    "matrix_from_rows",
    "matrix_from_trajectories",
    "matrix_null",
    "mcnemar_exact",
    "mean_nearest_neighbour_distance",
    "mean_pairwise_distance",
    "minimum_detectable_difference",
    "model_agreement",
    "ordinal_ranks",
    "paired_difference",
    "paired_separability",
    "pass_at_k",
    "pass_hat_k",
    "pirt_estimate",
    "pooled_compression",
    "prevalence_adjusted_precision",
    "random_subset_null",
    "rank_change_nulls",
    "rank_intervals",
    "rank_moves",
    "ranking_change_rate",
    "read_matrix",
    "require_same_models",
    "retention",
    "score_bounds",
    "score_intervals",
    "separability",
    "share_of_disjoint_intervals",
    "share_with_undecided",
    "stage_compressions",
    "tied_sets",
    "top_unchanged",
    "trial_counts",
    "wilson",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"agenthard.audit.statistics.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
