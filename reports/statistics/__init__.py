"""Statistics of score matrices, rankings, prompts and raters; each result carries its n, method and seed."""

from reports.statistics.agreement import chance_corrected_agreement, model_agreement
from reports.statistics.anchors import ItemBank, ability, anchor_estimate, gpirt_estimate, pirt_estimate
from reports.statistics.clustered import clustered_mean, paired_difference
from reports.statistics.compression import (
    StageCompression,
    compression,
    macro_compression,
    pooled_compression,
    stage_compressions,
)
from reports.statistics.detectable import detectable_difference, minimum_detectable_difference
from reports.statistics.diversity import mean_nearest_neighbour_distance, mean_pairwise_distance
from reports.statistics.easy_tasks import easy_tasks, keep_some
from reports.statistics.embedding import (
    Embedder,
    HashingEmbedder,
    MissingExtra,
    SentenceTransformerEmbedder,
    TfidfEmbedder,
    embedder,
)
from reports.statistics.indistinguishable import (
    PAPER_THRESHOLD,
    close_pairs,
    indistinguishable_groups,
    indistinguishable_models,
)
from reports.statistics.item_response import ItemParameters, ItemResponse, item_parameters
from reports.statistics.kappa import cohen_kappa
from reports.statistics.krippendorff import krippendorff_alpha
from reports.statistics.loading import Infrastructure, matrix_from_rows, matrix_from_trajectories, read_matrix
from reports.statistics.matrix import DifferentModels, MatrixError, Missing, ScoreMatrix, require_same_models
from reports.statistics.nulls import NullDistribution, matrix_null, random_subset_null
from reports.statistics.paired_tests import (
    PairComparison,
    PairedTest,
    compare_pairs,
    holm,
    mcnemar_exact,
    paired_separability,
)
from reports.statistics.pass_k import pass_at_k, pass_hat_k, trial_counts
from reports.statistics.precision import prevalence_adjusted_precision
from reports.statistics.proportion import (
    UndecidedShare,
    clopper_pearson_interval,
    share_with_undecided,
    wilson_interval,
)
from reports.statistics.rank_nulls import RankChangeNulls, rank_change_nulls
from reports.statistics.ranking import (
    RankMove,
    average_rank_shift,
    kendall_tau_b,
    ordinal_ranks,
    rank_moves,
    ranking_change_rate,
)
from reports.statistics.result import Estimate, Result, Undefined
from reports.statistics.retention import SAFEGUARD, CategoryRetention, category_coverage, retention
from reports.statistics.score_bounds import ScoreBounds, score_bounds
from reports.statistics.separability import (
    ARENA_HARD_LEVEL,
    arena_hard_separability,
    score_intervals,
    separability,
    share_of_disjoint_intervals,
)
from reports.statistics.stability import rank_intervals, top_unchanged
from reports.statistics.tied_sets import tied_sets

__all__ = [
    "ARENA_HARD_LEVEL",
    "CategoryRetention",
    "DifferentModels",
    "Embedder",
    "Estimate",
    "HashingEmbedder",
    "Infrastructure",
    "ItemBank",
    "ItemParameters",
    "ItemResponse",
    "MatrixError",
    "Missing",
    "MissingExtra",
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
    "wilson_interval",
]
