"""Every error that AgentHard raises, and the table of their codes.

All derive from `AgentHardError`. The hundreds of a code say which part raises it: AH0 records and files, AH1 sources,
AH2 checks, decisions and repairs, AH3 execution, AH4 judges, AH5 models, AH6 ACE-Bench, AH7 statistics and reports,
AH8 commands.

>>> BY_CODE["AH101"].__name__
'SourceError'
"""

from agenthard.ace.agents.episode import OutOfTurnsError
from agenthard.ace.agents.player import EpisodeDoneError
from agenthard.ace.agents.registry import UnknownAgentError
from agenthard.ace.domains import UnknownDomainError
from agenthard.ace.environment.arguments import RefusedCallError
from agenthard.ace.environment.playable import UnplayableError
from agenthard.ace.errors import GenerationError, ImpossibleParametersError, MalformedInstanceError, UnmetConditionError
from agenthard.audit.decisions.policy import PolicyError
from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.policy.case import UnknownFactError
from agenthard.audit.execution.tau.calculator import ExpressionError
from agenthard.audit.execution.tau.payloads import InvalidPayloadError
from agenthard.audit.execution.tau.tools import ToolError
from agenthard.audit.execution.workers.channel import ChannelClosedError, ChannelTimeoutError
from agenthard.audit.execution.workers.isolation import WeakIsolationError
from agenthard.audit.judge.aggregate.dawid_skene import TooFewVotesError
from agenthard.audit.judge.context.budget import PromptTooLongError
from agenthard.audit.judge.investigation.results import InvalidLookupError
from agenthard.audit.judge.settings import JudgeSettingsError
from agenthard.audit.judge.verify.patches import PatchError
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError
from agenthard.audit.plugins import PluginError
from agenthard.audit.probes.candidates import CandidatesError
from agenthard.audit.repair.json_edit import EditError
from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.fetch import FetchError
from agenthard.audit.sources.formats.json_stream import JsonStreamError
from agenthard.audit.sources.formats.json_text import UnwritableError
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.paths import PathSyntaxError
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.statistics.matrix import DifferentModelsError, MatrixError
from agenthard.audit.time_limit import CheckTimeoutError
from agenthard.flows.errors import CommandError, RunFolderError, UsageError
from agenthard.flows.judging.session import NotAskedError
from agenthard.flows.judging.workers import PreparationError
from agenthard.models.errors import (
    BadRequestError,
    BudgetExhaustedError,
    ConfigurationError,
    ConnectionFailedError,
    ConnectionLostError,
    ContextOverflowError,
    MalformedReplyError,
    MissingKeyError,
    ModelError,
    NotRecordedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StopError,
    StorageError,
    TransientError,
    UnknownModelError,
    UnreachableError,
    WrongKeyError,
)
from agenthard.models.providers.http import ReplyTooLongError
from agenthard.reports.alignment.sampling import SampleError
from agenthard.reports.alignment.score import AlignmentError
from agenthard.reports.cleaning.inputs import AnalysisError
from agenthard.reports.comparison.audits import ComparisonError
from agenthard.reports.evaluation.episodes import EvaluationError
from agenthard.reports.kit.load import RunTablesError
from agenthard.reports.labels import LabelError
from agenthard.taxonomy.categories import TaxonomyError
from agenthard.taxonomy.errors import AgentHardError, MissingExtraError
from agenthard.taxonomy.files import UnreadableFileError
from agenthard.taxonomy.yaml_text import YamlTextError

_ERRORS: tuple[type[AgentHardError], ...] = (
    PluginError,
    AgentHardError,
    MissingExtraError,
    TaxonomyError,
    UnreadableFileError,
    YamlTextError,
    SourceError,
    FetchError,
    JsonStreamError,
    MalformedRecordError,
    UnwritableError,
    PathSyntaxError,
    UnreadableDomainError,
    PolicyError,
    CheckTimeoutError,
    CandidatesError,
    EditError,
    UnavailableError,
    ExecutionError,
    UnknownFactError,
    ExpressionError,
    InvalidPayloadError,
    ToolError,
    ChannelClosedError,
    ChannelTimeoutError,
    WeakIsolationError,
    JudgeSettingsError,
    UnreadableVerdictError,
    PatchError,
    TooFewVotesError,
    PromptTooLongError,
    InvalidLookupError,
    ModelError,
    ConfigurationError,
    MissingKeyError,
    StopError,
    WrongKeyError,
    UnknownModelError,
    UnreachableError,
    BudgetExhaustedError,
    StorageError,
    NotRecordedError,
    BadRequestError,
    ContextOverflowError,
    TransientError,
    RateLimitError,
    ServerError,
    ConnectionFailedError,
    ConnectionLostError,
    RequestTimeoutError,
    MalformedReplyError,
    ReplyTooLongError,
    OutOfTurnsError,
    EpisodeDoneError,
    UnknownAgentError,
    UnknownDomainError,
    RefusedCallError,
    UnplayableError,
    ImpossibleParametersError,
    UnmetConditionError,
    GenerationError,
    MalformedInstanceError,
    MatrixError,
    DifferentModelsError,
    SampleError,
    AlignmentError,
    AnalysisError,
    RunTablesError,
    ComparisonError,
    EvaluationError,
    LabelError,
    CommandError,
    RunFolderError,
    UsageError,
    NotAskedError,
    PreparationError,
)
BY_CODE = {error.code: error for error in _ERRORS}
"""Class of each error by its code."""

__all__ = [
    "BY_CODE",
    "AgentHardError",
    "AlignmentError",
    "AnalysisError",
    "BadRequestError",
    "BudgetExhaustedError",
    "CandidatesError",
    "ChannelClosedError",
    "ChannelTimeoutError",
    "CheckTimeoutError",
    "CommandError",
    "ComparisonError",
    "ConfigurationError",
    "ConnectionFailedError",
    "ConnectionLostError",
    "ContextOverflowError",
    "DifferentModelsError",
    "EditError",
    "EpisodeDoneError",
    "EvaluationError",
    "ExecutionError",
    "ExpressionError",
    "FetchError",
    "GenerationError",
    "ImpossibleParametersError",
    "InvalidLookupError",
    "InvalidPayloadError",
    "JsonStreamError",
    "JudgeSettingsError",
    "LabelError",
    "MalformedInstanceError",
    "MalformedRecordError",
    "MalformedReplyError",
    "MatrixError",
    "MissingExtraError",
    "MissingKeyError",
    "ModelError",
    "NotAskedError",
    "NotRecordedError",
    "OutOfTurnsError",
    "PatchError",
    "PluginError",
    "PathSyntaxError",
    "PolicyError",
    "PreparationError",
    "PromptTooLongError",
    "RateLimitError",
    "RefusedCallError",
    "ReplyTooLongError",
    "RequestTimeoutError",
    "RunFolderError",
    "RunTablesError",
    "SampleError",
    "ServerError",
    "SourceError",
    "StopError",
    "StorageError",
    "TaxonomyError",
    "TooFewVotesError",
    "ToolError",
    "TransientError",
    "UnavailableError",
    "UnknownAgentError",
    "UnknownDomainError",
    "UnknownFactError",
    "UnknownModelError",
    "UnmetConditionError",
    "UnplayableError",
    "UnreachableError",
    "UnreadableDomainError",
    "UnreadableFileError",
    "UnreadableVerdictError",
    "UnwritableError",
    "UsageError",
    "WeakIsolationError",
    "WrongKeyError",
    "YamlTextError",
]
