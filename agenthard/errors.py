"""Every error that AgentHard raises, and the table of their codes.

All derive from `AgentHardError`. The hundreds of a code say which part raises it: AH0 records and files, AH1 sources,
AH2 checks, decisions and repairs, AH3 execution, AH4 judges, AH5 models, AH6 our own benchmarks, AH7 statistics and
reports, AH8 commands.

>>> from agenthard.errors import BY_CODE
>>> BY_CODE["AH101"].__name__
'SourceError'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `as` makes them names of this module for type checkers.
    from agenthard.ace.agents.player import EpisodeDoneError as EpisodeDoneError
    from agenthard.ace.domains import UnknownDomainError as UnknownDomainError
    from agenthard.ace.environment.arguments import RefusedCallError as RefusedCallError
    from agenthard.ace.environment.playable import UnplayableError as UnplayableError
    from agenthard.agency.evaluation import UnplayableScenarioError as UnplayableScenarioError
    from agenthard.agency.imported import UnknownScenarioError as UnknownScenarioError
    from agenthard.agency.judges.blind import BlindnessError as BlindnessError
    from agenthard.agency.judges.probe import ProbeError as ProbeError
    from agenthard.agency.sandbox.browser import BrowserError as BrowserError
    from agenthard.agency.sandbox.docker import EngineError as EngineError
    from agenthard.agency.scaffolds.command import CommandLineError as CommandLineError
    from agenthard.agency.scaffolds.script import ScriptError as ScriptError
    from agenthard.agency.suite_files import SuiteError as SuiteError
    from agenthard.agency.tools.tool import ToolRefusal as ToolRefusal
    from agenthard.agency.tools.web import WebCassetteError as WebCassetteError
    from agenthard.agency.workspace.store import SnapshotError as SnapshotError
    from agenthard.audit.decisions.policy import PolicyError as PolicyError
    from agenthard.audit.decisions.suppressions import SuppressionError as SuppressionError
    from agenthard.audit.decisions.verdicts import VerdictError as VerdictError
    from agenthard.audit.detectors.selection import SelectionError as SelectionError
    from agenthard.audit.execution.environment import (
        ExecutionError as ExecutionError,
    )
    from agenthard.audit.execution.environment import (
        UnavailableError as UnavailableError,
    )
    from agenthard.audit.execution.policy.case import UnknownFactError as UnknownFactError
    from agenthard.audit.execution.policy.language import RuleSyntaxError as RuleSyntaxError
    from agenthard.audit.execution.policy.proposals import RuleFileError as RuleFileError
    from agenthard.audit.execution.tau.calculator import ExpressionError as ExpressionError
    from agenthard.audit.execution.tau.payloads import InvalidPayloadError as InvalidPayloadError
    from agenthard.audit.execution.tau.tools import ToolError as ToolError
    from agenthard.audit.execution.workers.channel import (
        ChannelClosedError as ChannelClosedError,
    )
    from agenthard.audit.execution.workers.channel import (
        ChannelTimeoutError as ChannelTimeoutError,
    )
    from agenthard.audit.execution.workers.isolation import WeakIsolationError as WeakIsolationError
    from agenthard.audit.judge.aggregate.dawid_skene import TooFewVotesError as TooFewVotesError
    from agenthard.audit.judge.context.budget import PromptTooLongError as PromptTooLongError
    from agenthard.audit.judge.investigation.results import InvalidLookupError as InvalidLookupError
    from agenthard.audit.judge.settings import JudgeSettingsError as JudgeSettingsError
    from agenthard.audit.judge.verify.patches import PatchError as PatchError
    from agenthard.audit.judge.verify.readings import WrittenReadingError as WrittenReadingError
    from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError as UnreadableVerdictError
    from agenthard.audit.plugins import PluginError as PluginError
    from agenthard.audit.probes.candidates import CandidatesError as CandidatesError
    from agenthard.audit.repair.json_edit import EditError as EditError
    from agenthard.audit.sources.base import SourceError as SourceError
    from agenthard.audit.sources.fetch import FetchError as FetchError
    from agenthard.audit.sources.fetch import UnknownDownloadError as UnknownDownloadError
    from agenthard.audit.sources.formats.json_stream import JsonStreamError as JsonStreamError
    from agenthard.audit.sources.formats.json_text import UnwritableError as UnwritableError
    from agenthard.audit.sources.formats.malformed import MalformedRecordError as MalformedRecordError
    from agenthard.audit.sources.formats.suite.malformed_suite import MalformedInstanceError as MalformedInstanceError
    from agenthard.audit.sources.mapping.paths import PathSyntaxError as PathSyntaxError
    from agenthard.audit.sources.tau.records import UnreadableDomainError as UnreadableDomainError
    from agenthard.audit.statistics.embedders import EmbedderError as EmbedderError
    from agenthard.audit.statistics.matrix import (
        DifferentModelsError as DifferentModelsError,
    )
    from agenthard.audit.statistics.matrix import (
        MatrixError as MatrixError,
    )
    from agenthard.audit.time_limit import CheckTimeoutError as CheckTimeoutError
    from agenthard.containment.job import JobError as JobError
    from agenthard.escape.agents.explorer import EpisodeOverError as EpisodeOverError
    from agenthard.escape.environment.uses import Refusal as Refusal
    from agenthard.escape.ports import WrongTypeError as WrongTypeError
    from agenthard.escape.templates.program import ProgramError as ProgramError
    from agenthard.escape.templates.template import ToolUseError as ToolUseError
    from agenthard.escape.templates.template import UnfillableError as UnfillableError
    from agenthard.flows.errors import (
        CommandError as CommandError,
    )
    from agenthard.flows.errors import (
        FolderInUseError as FolderInUseError,
    )
    from agenthard.flows.errors import (
        InfrastructureError as InfrastructureError,
    )
    from agenthard.flows.errors import (
        RunFolderError as RunFolderError,
    )
    from agenthard.flows.errors import (
        UsageError as UsageError,
    )
    from agenthard.flows.judging.session import NotAskedError as NotAskedError
    from agenthard.flows.judging.workers import PreparationError as PreparationError
    from agenthard.flows.project_config import ConfigError as ConfigError
    from agenthard.flows.review.events import ReviewError as ReviewError
    from agenthard.flows.review.queue import QueueError as QueueError
    from agenthard.flows.review.web.recording import NotAllowedError as NotAllowedError
    from agenthard.flows.scale_out.check_process import (
        LostProcessError as LostProcessError,
    )
    from agenthard.flows.scale_out.check_process import (
        RemoteCheckError as RemoteCheckError,
    )
    from agenthard.flows.scale_out.frames import ConnectionBrokenError as ConnectionBrokenError
    from agenthard.flows.scale_out.job_server import (
        FailedJobError as FailedJobError,
    )
    from agenthard.flows.scale_out.job_server import (
        LostJobError as LostJobError,
    )
    from agenthard.flows.scale_out.job_server import (
        RefusedError as RefusedError,
    )
    from agenthard.flows.scale_out.job_worker import LostWorkerError as LostWorkerError
    from agenthard.flows.scale_out.remote_model import UnexpectedAnswerError as UnexpectedAnswerError
    from agenthard.flows.scale_out.shard_job import NotPlainJsonError as NotPlainJsonError
    from agenthard.flows.scale_out.stored_result import UnusableResultError as UnusableResultError
    from agenthard.flows.scale_out.surroundings import DifferentWorkerError as DifferentWorkerError
    from agenthard.flows.scale_out.work_store import StoreError as StoreError
    from agenthard.models.errors import (
        BadRequestError as BadRequestError,
    )
    from agenthard.models.errors import (
        BudgetExhaustedError as BudgetExhaustedError,
    )
    from agenthard.models.errors import (
        ConfigurationError as ConfigurationError,
    )
    from agenthard.models.errors import (
        ConnectionFailedError as ConnectionFailedError,
    )
    from agenthard.models.errors import (
        ConnectionLostError as ConnectionLostError,
    )
    from agenthard.models.errors import (
        ContextOverflowError as ContextOverflowError,
    )
    from agenthard.models.errors import (
        MalformedReplyError as MalformedReplyError,
    )
    from agenthard.models.errors import (
        MissingKeyError as MissingKeyError,
    )
    from agenthard.models.errors import (
        ModelError as ModelError,
    )
    from agenthard.models.errors import (
        NotRecordedError as NotRecordedError,
    )
    from agenthard.models.errors import (
        RateLimitError as RateLimitError,
    )
    from agenthard.models.errors import (
        RequestTimeoutError as RequestTimeoutError,
    )
    from agenthard.models.errors import (
        ServerError as ServerError,
    )
    from agenthard.models.errors import (
        StopError as StopError,
    )
    from agenthard.models.errors import (
        StorageError as StorageError,
    )
    from agenthard.models.errors import (
        TransientError as TransientError,
    )
    from agenthard.models.errors import (
        UnknownModelError as UnknownModelError,
    )
    from agenthard.models.errors import (
        UnreachableError as UnreachableError,
    )
    from agenthard.models.errors import (
        WrongKeyError as WrongKeyError,
    )
    from agenthard.models.providers.http import ReplyTooLongError as ReplyTooLongError
    from agenthard.play.episode import OutOfTurnsError as OutOfTurnsError
    from agenthard.play.errors import (
        GenerationError as GenerationError,
    )
    from agenthard.play.errors import (
        ImpossibleParametersError as ImpossibleParametersError,
    )
    from agenthard.play.errors import (
        UnmetConditionError as UnmetConditionError,
    )
    from agenthard.play.journal import JournalError as JournalError
    from agenthard.play.registry import UnknownAgentError as UnknownAgentError
    from agenthard.reports.alignment.ratings import RatingError as RatingError
    from agenthard.reports.alignment.sampling import SampleError as SampleError
    from agenthard.reports.alignment.score import AlignmentError as AlignmentError
    from agenthard.reports.cleaning.inputs import AnalysisError as AnalysisError
    from agenthard.reports.comparison.audits import ComparisonError as ComparisonError
    from agenthard.reports.evaluation.episodes import EvaluationError as EvaluationError
    from agenthard.reports.kit.load import RunTablesError as RunTablesError
    from agenthard.reports.labels import LabelError as LabelError
    from agenthard.reports.survey.survey import SurveyError as SurveyError
    from agenthard.taxonomy.categories import TaxonomyError as TaxonomyError
    from agenthard.taxonomy.errors import AgentHardError as AgentHardError
    from agenthard.taxonomy.errors import MissingExtraError as MissingExtraError
    from agenthard.taxonomy.files import UnreadableFileError as UnreadableFileError
    from agenthard.taxonomy.yaml_text import YamlTextError as YamlTextError

    BY_CODE: dict[str, type[AgentHardError]]
    """Class of each error by its code."""

_PLACES = {
    "AH000": "taxonomy.errors:AgentHardError",
    "AH001": "taxonomy.errors:MissingExtraError",
    "AH002": "taxonomy.categories:TaxonomyError",
    "AH003": "taxonomy.files:UnreadableFileError",
    "AH004": "taxonomy.yaml_text:YamlTextError",
    "AH005": "audit.plugins:PluginError",
    "AH101": "audit.sources.base:SourceError",
    "AH102": "audit.sources.fetch:FetchError",
    "AH103": "audit.sources.formats.json_stream:JsonStreamError",
    "AH104": "audit.sources.formats.malformed:MalformedRecordError",
    "AH105": "audit.sources.formats.json_text:UnwritableError",
    "AH106": "audit.sources.mapping.paths:PathSyntaxError",
    "AH107": "audit.sources.tau.records:UnreadableDomainError",
    "AH108": "audit.sources.fetch:UnknownDownloadError",
    "AH201": "audit.decisions.policy:PolicyError",
    "AH202": "audit.time_limit:CheckTimeoutError",
    "AH203": "audit.probes.candidates:CandidatesError",
    "AH204": "audit.repair.json_edit:EditError",
    "AH205": "audit.detectors.selection:SelectionError",
    "AH206": "audit.decisions.suppressions:SuppressionError",
    "AH207": "audit.decisions.verdicts:VerdictError",
    "AH301": "audit.execution.environment:UnavailableError",
    "AH302": "audit.execution.environment:ExecutionError",
    "AH303": "audit.execution.policy.case:UnknownFactError",
    "AH304": "audit.execution.tau.calculator:ExpressionError",
    "AH305": "audit.execution.tau.payloads:InvalidPayloadError",
    "AH306": "audit.execution.tau.tools:ToolError",
    "AH307": "audit.execution.workers.channel:ChannelClosedError",
    "AH308": "audit.execution.workers.channel:ChannelTimeoutError",
    "AH309": "audit.execution.workers.isolation:WeakIsolationError",
    "AH310": "audit.execution.policy.language:RuleSyntaxError",
    "AH311": "audit.execution.policy.proposals:RuleFileError",
    "AH312": "containment.job:JobError",
    "AH401": "audit.judge.settings:JudgeSettingsError",
    "AH402": "audit.judge.verify.verdict_parser:UnreadableVerdictError",
    "AH403": "audit.judge.verify.patches:PatchError",
    "AH404": "audit.judge.aggregate.dawid_skene:TooFewVotesError",
    "AH405": "audit.judge.context.budget:PromptTooLongError",
    "AH406": "audit.judge.investigation.results:InvalidLookupError",
    "AH407": "audit.judge.verify.readings:WrittenReadingError",
    "AH500": "models.errors:ModelError",
    "AH501": "models.errors:ConfigurationError",
    "AH502": "models.errors:MissingKeyError",
    "AH503": "models.errors:StopError",
    "AH504": "models.errors:WrongKeyError",
    "AH505": "models.errors:UnknownModelError",
    "AH506": "models.errors:UnreachableError",
    "AH507": "models.errors:BudgetExhaustedError",
    "AH508": "models.errors:StorageError",
    "AH509": "models.errors:NotRecordedError",
    "AH510": "models.errors:BadRequestError",
    "AH511": "models.errors:ContextOverflowError",
    "AH512": "models.errors:TransientError",
    "AH513": "models.errors:RateLimitError",
    "AH514": "models.errors:ServerError",
    "AH515": "models.errors:ConnectionFailedError",
    "AH516": "models.errors:ConnectionLostError",
    "AH517": "models.errors:RequestTimeoutError",
    "AH518": "models.errors:MalformedReplyError",
    "AH519": "models.providers.http:ReplyTooLongError",
    "AH601": "play.episode:OutOfTurnsError",
    "AH602": "ace.agents.player:EpisodeDoneError",
    "AH603": "play.registry:UnknownAgentError",
    "AH604": "ace.domains:UnknownDomainError",
    "AH605": "ace.environment.arguments:RefusedCallError",
    "AH606": "ace.environment.playable:UnplayableError",
    "AH607": "play.errors:ImpossibleParametersError",
    "AH608": "play.errors:UnmetConditionError",
    "AH609": "play.errors:GenerationError",
    "AH610": "audit.sources.formats.suite.malformed_suite:MalformedInstanceError",
    "AH620": "escape.ports:WrongTypeError",
    "AH621": "escape.templates.template:ToolUseError",
    "AH622": "escape.templates.template:UnfillableError",
    "AH623": "escape.templates.program:ProgramError",
    "AH624": "escape.environment.uses:Refusal",
    "AH625": "escape.agents.explorer:EpisodeOverError",
    "AH626": "play.journal:JournalError",
    "AH641": "agency.workspace.store:SnapshotError",
    "AH642": "agency.imported:UnknownScenarioError",
    "AH643": "agency.judges.probe:ProbeError",
    "AH644": "agency.tools.tool:ToolRefusal",
    "AH645": "agency.tools.web:WebCassetteError",
    "AH646": "agency.scaffolds.script:ScriptError",
    "AH647": "agency.scaffolds.command:CommandLineError",
    "AH648": "agency.suite_files:SuiteError",
    "AH649": "agency.evaluation:UnplayableScenarioError",
    "AH655": "agency.sandbox.browser:BrowserError",
    "AH656": "agency.judges.blind:BlindnessError",
    "AH657": "agency.sandbox.docker:EngineError",
    "AH701": "audit.statistics.matrix:MatrixError",
    "AH702": "audit.statistics.matrix:DifferentModelsError",
    "AH703": "reports.alignment.sampling:SampleError",
    "AH704": "reports.alignment.score:AlignmentError",
    "AH705": "reports.cleaning.inputs:AnalysisError",
    "AH706": "reports.kit.load:RunTablesError",
    "AH707": "reports.comparison.audits:ComparisonError",
    "AH708": "reports.evaluation.episodes:EvaluationError",
    "AH709": "reports.labels:LabelError",
    "AH710": "reports.survey.survey:SurveyError",
    "AH715": "audit.statistics.embedders:EmbedderError",
    "AH716": "reports.alignment.ratings:RatingError",
    "AH801": "flows.errors:CommandError",
    "AH802": "flows.errors:RunFolderError",
    "AH803": "flows.judging.session:NotAskedError",
    "AH804": "flows.judging.workers:PreparationError",
    "AH805": "flows.errors:InfrastructureError",
    "AH806": "flows.errors:FolderInUseError",
    "AH807": "flows.project_config:ConfigError",
    "AH810": "flows.errors:UsageError",
    "AH811": "flows.review.events:ReviewError",
    "AH812": "flows.review.queue:QueueError",
    "AH813": "flows.review.web.recording:NotAllowedError",
    "AH821": "flows.scale_out.work_store:StoreError",
    "AH822": "flows.scale_out.shard_job:NotPlainJsonError",
    "AH823": "flows.scale_out.surroundings:DifferentWorkerError",
    "AH824": "flows.scale_out.check_process:LostProcessError",
    "AH825": "flows.scale_out.check_process:RemoteCheckError",
    "AH826": "flows.scale_out.stored_result:UnusableResultError",
    "AH827": "flows.scale_out.frames:ConnectionBrokenError",
    "AH828": "flows.scale_out.job_server:LostJobError",
    "AH829": "flows.scale_out.job_server:RefusedError",
    "AH830": "flows.scale_out.job_worker:LostWorkerError",
    "AH831": "flows.scale_out.job_server:FailedJobError",
    "AH832": "flows.scale_out.remote_model:UnexpectedAnswerError",
}
"""Module below ``agenthard`` and class of each error, by its code; it is imported when it is used."""


def error_of(code: str) -> "type[AgentHardError]":
    """Return the class of an error, importing no other.

    Raises:
        KeyError: No error has this code.
    """
    module, _, name = _PLACES[code].partition(":")
    found: type[AgentHardError] = getattr(import_module(f"agenthard.{module}"), name)
    return found


def __getattr__(name: str) -> Any:
    """Import a class, or all of them for ``BY_CODE``, when it is first used."""
    value: Any
    if name == "BY_CODE":
        value = {code: error_of(code) for code in _PLACES}
    else:
        value = next((error_of(code) for code, place in _PLACES.items() if place.endswith(f":{name}")), None)
    if value is None:
        raise AttributeError(f"module 'agenthard.errors' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["BY_CODE", *(place.partition(":")[2] for place in _PLACES.values())])
