"""Statistics of score matrices, rankings, prompts and raters; each result carries its n, method and seed.

* ``matrix``, ``loading``: scores of models on tasks, from runs, rows and files
* ``result``: what a statistic returns, ``Estimate`` or ``Undefined``
* ``intervals``, ``rates``, ``means``: closed-form intervals, rates and mean scores
* ``sampling_frame``: rates and F1 over labelled tasks, with clusters and weights
* ``resampling``, ``subsets``, ``nulls``, ``monte_carlo``: bootstrap, random subsets of equal size, p-values from draws
* ``missing``: scores of models whose runs are partly missing
* ``exchange``: two sides of equal models and tasks, compared by swapping them
* ``agreement``, ``separation``, ``paired_tests``, ``ranking``: do the tasks tell models apart, do raters agree
* ``variance``: reliability, variance of outcomes by its source
* ``reduction``, ``diversity``: what a smaller benchmark keeps
* ``item_response``, ``anchors``, ``pass_k``, ``trend``: single tasks, few tasks, repeated trials, rising difficulty

No module has the name of a function: ``from agenthard.audit.statistics import separability`` gives the function.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenthard.audit.statistics.agreement import (
        chance_corrected_agreement,
        cohen_kappa,
        krippendorff_alpha,
        model_agreement,
    )
    from agenthard.audit.statistics.anchors import ItemBank, ability, anchor_estimate, gpirt_estimate, pirt_estimate
    from agenthard.audit.statistics.diversity import (
        PromptSpace,
        mean_nearest_neighbour_distance,
        mean_pairwise_distance,
    )
    from agenthard.audit.statistics.embedders import (
        Embedder,
        EmbedderError,
        HashingEmbedder,
        ModelEmbedder,
        SentenceTransformerEmbedder,
        TfidfEmbedder,
        embedder,
    )
    from agenthard.audit.statistics.exchange import RankExchange, TogetherTest, changes_together, rank_exchange
    from agenthard.audit.statistics.intervals import clustered_wilson, effective_wilson, fisher_z, upper_tail, wilson
    from agenthard.audit.statistics.item_bank import Anchor, AnchorBank, AnchorBanks, BankError, anchor_banks
    from agenthard.audit.statistics.item_response import ItemParameters, ItemResponse, item_parameters, item_rest
    from agenthard.audit.statistics.key_check import InvertedKeys, inverted_keys
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
    from agenthard.audit.statistics.means import (
        ScoreBounds,
        clustered_mean,
        may_draw_level,
        paired_difference,
        paired_gap,
        score_bounds,
    )
    from agenthard.audit.statistics.missing import MissingOutcomes, ModelMissing, missing_outcomes, modelled_scores
    from agenthard.audit.statistics.monte_carlo import MonteCarloP, Verdict, adjusted, monte_carlo_p, verdict
    from agenthard.audit.statistics.nulls import NullBand, NullDistribution, matrix_null, random_subset_null
    from agenthard.audit.statistics.paired_tests import (
        PairComparison,
        PairedTest,
        compare_pairs,
        holm,
        mcnemar_exact,
        paired_separability,
        tied_sets,
    )
    from agenthard.audit.statistics.pass_k import pass_at_k, pass_hat_k, trial_counts
    from agenthard.audit.statistics.power import detectable_by_test, tasks_needed
    from agenthard.audit.statistics.rank_nulls import RankChangeNulls, rank_change_nulls
    from agenthard.audit.statistics.ranking import (
        RankMove,
        average_rank_shift,
        kendall_tau_b,
        ordinal_ranks,
        rank_moves,
        ranking_change_rate,
        top_unchanged,
    )
    from agenthard.audit.statistics.rates import (
        UndecidedShare,
        clopper_pearson_interval,
        prevalence_adjusted_precision,
        share_with_undecided,
        wilson_interval,
    )
    from agenthard.audit.statistics.reduction import (
        SAFEGUARD,
        CategoryRetention,
        StageCompression,
        category_coverage,
        compression,
        easy_tasks,
        keep_some,
        macro_compression,
        pooled_compression,
        retention,
        stage_compressions,
    )
    from agenthard.audit.statistics.result import Estimate, Result, Undefined
    from agenthard.audit.statistics.sampling_frame import SamplingFrame
    from agenthard.audit.statistics.separation import (
        ARENA_HARD_LEVEL,
        PAPER_THRESHOLD,
        arena_hard_separability,
        close_pairs,
        detectable_difference,
        indistinguishable_groups,
        indistinguishable_models,
        minimum_detectable_difference,
        score_intervals,
        separability,
        share_of_disjoint_intervals,
    )
    from agenthard.audit.statistics.subsets import SubsetDraws, matching_subsets, plain_subsets
    from agenthard.audit.statistics.supported_ranks import rank_sets
    from agenthard.audit.statistics.trend import rank_trend
    from agenthard.audit.statistics.variance import Reliability, facet_variance, reliability

_MODULES = {
    "agreement": "chance_corrected_agreement cohen_kappa krippendorff_alpha model_agreement",
    "anchors": "ItemBank ability anchor_estimate gpirt_estimate pirt_estimate",
    "diversity": "PromptSpace mean_nearest_neighbour_distance mean_pairwise_distance",
    "embedders": (
        "Embedder EmbedderError HashingEmbedder ModelEmbedder SentenceTransformerEmbedder TfidfEmbedder embedder"
    ),
    "intervals": "clustered_wilson effective_wilson fisher_z upper_tail wilson",
    "item_bank": "Anchor AnchorBank AnchorBanks BankError anchor_banks",
    "key_check": "InvertedKeys inverted_keys",
    "item_response": "ItemParameters ItemResponse item_parameters item_rest",
    "loading": "Infrastructure matrix_from_frame matrix_from_rows matrix_from_trajectories read_matrix",
    "matrix": "DifferentModelsError MatrixError Missing ScoreMatrix require_same_models",
    "means": "ScoreBounds clustered_mean may_draw_level paired_difference paired_gap score_bounds",
    "missing": "MissingOutcomes ModelMissing missing_outcomes modelled_scores",
    "exchange": "RankExchange TogetherTest changes_together rank_exchange",
    "monte_carlo": "MonteCarloP Verdict adjusted monte_carlo_p verdict",
    "nulls": "NullBand NullDistribution matrix_null random_subset_null",
    "power": "detectable_by_test tasks_needed",
    "rank_nulls": "RankChangeNulls rank_change_nulls",
    "supported_ranks": "rank_sets",
    "subsets": "SubsetDraws matching_subsets plain_subsets",
    "paired_tests": "PairComparison PairedTest compare_pairs holm mcnemar_exact paired_separability tied_sets",
    "pass_k": "pass_at_k pass_hat_k trial_counts",
    "ranking": ("RankMove average_rank_shift kendall_tau_b ordinal_ranks rank_moves ranking_change_rate top_unchanged"),
    "rates": (
        "UndecidedShare clopper_pearson_interval prevalence_adjusted_precision share_with_undecided wilson_interval"
    ),
    "reduction": (
        "CategoryRetention SAFEGUARD StageCompression category_coverage compression easy_tasks keep_some "
        "macro_compression pooled_compression retention stage_compressions"
    ),
    "variance": "Reliability facet_variance reliability",
    "result": "Estimate Result Undefined",
    "sampling_frame": "SamplingFrame",
    "separation": (
        "ARENA_HARD_LEVEL PAPER_THRESHOLD arena_hard_separability close_pairs detectable_difference "
        "indistinguishable_groups indistinguishable_models minimum_detectable_difference score_intervals "
        "separability share_of_disjoint_intervals"
    ),
    "trend": "rank_trend",
}
"""Public names by the module that defines them. A module is imported when one of its names is used, scipy with it."""

__all__ = [
    "ARENA_HARD_LEVEL",
    "Anchor",
    "AnchorBank",
    "AnchorBanks",
    "BankError",
    "CategoryRetention",
    "DifferentModelsError",
    "Embedder",
    "EmbedderError",
    "Estimate",
    "HashingEmbedder",
    "Infrastructure",
    "InvertedKeys",
    "ItemBank",
    "ItemParameters",
    "ItemResponse",
    "MatrixError",
    "Missing",
    "MissingOutcomes",
    "ModelEmbedder",
    "ModelMissing",
    "MonteCarloP",
    "NullBand",
    "NullDistribution",
    "PAPER_THRESHOLD",
    "PairComparison",
    "PairedTest",
    "PromptSpace",
    "RankChangeNulls",
    "RankExchange",
    "RankMove",
    "Reliability",
    "Result",
    "SAFEGUARD",
    "SamplingFrame",
    "ScoreBounds",
    "ScoreMatrix",
    "SentenceTransformerEmbedder",
    "StageCompression",
    "SubsetDraws",
    "TfidfEmbedder",
    "TogetherTest",
    "UndecidedShare",
    "Undefined",
    "Verdict",
    "ability",
    "adjusted",
    "anchor_banks",
    "anchor_estimate",
    "arena_hard_separability",
    "average_rank_shift",
    "category_coverage",
    "chance_corrected_agreement",
    "changes_together",
    "clopper_pearson_interval",
    "close_pairs",
    "clustered_mean",
    "clustered_wilson",
    "cohen_kappa",
    "compare_pairs",
    "compression",
    "detectable_by_test",
    "detectable_difference",
    "easy_tasks",
    "effective_wilson",
    "embedder",
    "facet_variance",
    "fisher_z",
    "gpirt_estimate",
    "holm",
    "indistinguishable_groups",
    "indistinguishable_models",
    "inverted_keys",
    "item_parameters",
    "item_rest",
    "keep_some",
    "kendall_tau_b",
    "krippendorff_alpha",
    "macro_compression",
    "matching_subsets",
    "matrix_from_frame",
    "matrix_from_rows",
    "matrix_from_trajectories",
    "matrix_null",
    "may_draw_level",
    "mcnemar_exact",
    "mean_nearest_neighbour_distance",
    "mean_pairwise_distance",
    "minimum_detectable_difference",
    "missing_outcomes",
    "model_agreement",
    "modelled_scores",
    "monte_carlo_p",
    "ordinal_ranks",
    "paired_difference",
    "paired_gap",
    "paired_separability",
    "pass_at_k",
    "pass_hat_k",
    "pirt_estimate",
    "plain_subsets",
    "pooled_compression",
    "prevalence_adjusted_precision",
    "random_subset_null",
    "rank_change_nulls",
    "rank_exchange",
    "rank_moves",
    "rank_sets",
    "rank_trend",
    "ranking_change_rate",
    "read_matrix",
    "reliability",
    "require_same_models",
    "retention",
    "score_bounds",
    "score_intervals",
    "separability",
    "share_of_disjoint_intervals",
    "share_with_undecided",
    "stage_compressions",
    "tasks_needed",
    "tied_sets",
    "top_unchanged",
    "trial_counts",
    "upper_tail",
    "verdict",
    "wilson",
    "wilson_interval",
]

_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"agenthard.audit.statistics.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
