"""Episodes on the workers of a cluster. Environments run there; models are asked by the process of the command.

A worker gets a task and an episode, plays it, and returns the run. Each request to a model goes back to the command,
which alone has the cache, the ledger, the budget, the limits per minute and the keys. So these hold for all workers
together. When another worker plays the episode of a lost one, it finds the replies that were paid for in the cache.
"""

import gc
import pickle
from importlib.metadata import version as package_version

from agenthard.audit.plugins import plugins
from agenthard.flows.errors import FATAL, CommandError
from agenthard.flows.evaluation.benchmark import BUILT_IN, GROUP, PlayableChain, PlayableTask
from agenthard.flows.evaluation.episodes import Episode
from agenthard.flows.evaluation.play import EpisodeLoop, failed_run, open_client
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.resume_key import code_hash
from agenthard.flows.scale_out.job_crew import job_crew
from agenthard.flows.scale_out.job_server import JobServer
from agenthard.flows.scale_out.job_worker import Ask, Handler
from agenthard.flows.scale_out.remote_model import RemoteModel, UnexpectedAnswerError, answer_with
from agenthard.flows.scale_out.runners import Workers
from agenthard.flows.scale_out.surroundings import DifferentWorkerError
from agenthard.models.errors import StopError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory


class _Hello(Record):
    """What a worker needs before its first episode."""

    package: str
    code: str
    settings: EvaluationSettings


class _Played(Record):
    """What a worker says about an episode: the run, or why there is none."""

    run: Trajectory | None = None
    stopped: str | None = None


async def play_on_workers(settings: EvaluationSettings, cluster: Workers) -> dict[str, str]:
    """Let all agents play on workers.

    Args:
        settings: The evaluation.
        cluster: The workers.

    Returns:
        Why models stopped, by label.

    Raises:
        InfrastructureError: The workers cannot play, or were lost again and again.
    """
    hello = _Hello(package=package_version("agenthard"), code=_code(settings.benchmark), settings=_sent(settings))
    async with open_client(settings) as client:
        answer, sent = answer_with(client), hello.model_dump_json().encode()
        target = f"{__name__}:player"
        async with job_crew(cluster, settings.scale_out, target, sent, answer, settings.in_flight) as server:
            loop = EpisodeLoop(settings, settings.contestants, _RemotePlayer(settings, server).play)
            gc.freeze()  # What is loaded by now stays; scanning it again and again would block the event loop.
            await loop.run()
            return loop.stopped


class _RemotePlayer:
    """Hands episodes to workers."""

    def __init__(self, settings: EvaluationSettings, server: JobServer) -> None:
        self._settings, self._server = settings, server
        self._last: tuple[PlayableTask, bytes] | None = None

    async def play(self, task: PlayableTask, episode: Episode, store: EpisodeStore) -> Trajectory:
        """Let a worker play an episode.

        Raises:
            CommandError: Its journal and its folder are on the machine of the command only.
            StopError: Its model cannot be asked anything more.
        """
        if isinstance(task, PlayableChain):
            raise CommandError(f"episodes of {self._settings.benchmark} are played here only: use --runner local")
        name = f"the episode {episode.agent} on {episode.task_id} {episode.condition} {episode.trial}"
        data = await self._server.run(name, pickle.dumps((self._packed(task), episode)))
        played = _Played.model_validate_json(data)
        if played.run is None:
            raise StopError(played.stopped or "")
        run = played.run
        if (run.model, run.task_id, run.trial) != (episode.agent, episode.task_id, episode.trial):
            raise CommandError(f"a worker returned the run {run.id!r} for {name}")
        return run

    def _packed(self, task: PlayableTask) -> bytes:
        """Pack a task; its episodes come one after another."""
        if self._last is None or self._last[0] is not task:
            try:
                self._last = task, pickle.dumps(task)
            except Exception as error:  # each class has errors of its own
                raise CommandError(
                    f"tasks of the benchmark {self._settings.benchmark} cannot be sent to workers: "
                    f"{type(error).__name__}: {error}; use --runner local"
                ) from error
        return self._last[1]


def player(hello: bytes) -> Handler:
    """Return what plays episodes on a worker.

    Raises:
        DifferentWorkerError: Other code is installed here than where the command runs.
    """
    said = _Hello.model_validate_json(hello)
    settings = said.settings
    own = (package_version("agenthard"), _code(settings.benchmark))
    if own != (said.package, said.code):
        raise DifferentWorkerError(
            f"a worker has other code of AgentHard or of the benchmark {settings.benchmark} (AgentHard {own[0]} there, "
            f"{said.package} here)"
        )

    async def play(job: bytes, ask: Ask) -> bytes:
        packed, episode = pickle.loads(job)  # noqa: S301 - from the command whose code this worker runs
        return (await _play(settings, pickle.loads(packed), Episode(*episode), ask)).model_dump_json().encode()  # noqa: S301

    return play


async def _play(settings: EvaluationSettings, task: PlayableTask, episode: Episode, ask: Ask) -> _Played:
    try:
        if episode.agent in settings.agents:
            run = task.play(episode.agent, episode.condition, episode.failure_rate, episode.trial)
        else:
            file = next(each for each in settings.models if each.label == episode.agent)
            label, rate, trial = episode.agent, episode.failure_rate, episode.trial
            run = await task.converse(label, RemoteModel(ask), file, episode.condition, rate, trial)
        run.model_dump_json()  # a run that cannot be written is an error of this episode
        return _Played(run=run)
    except StopError as error:
        return _Played(stopped=str(error))
    except FATAL:
        raise
    except UnexpectedAnswerError as error:
        return _Played(run=failed_run(episode, f"unexpected {error}"))
    except Exception as error:  # noqa: BLE001 - an unexpected error in one episode must not end the others
        return _Played(run=failed_run(episode, f"unexpected {type(error).__name__}: {error}"))


def _sent(settings: EvaluationSettings) -> EvaluationSettings:
    """Leave out what belongs to the machine of the command."""
    own = {"path": "", "out": "", "cache": None, "prices": None, "compare": ()}
    return settings.model_copy(update=own)


def _code(benchmark: str) -> str:
    """Hash the code that plays a benchmark."""
    module = plugins(GROUP, BUILT_IN)[benchmark].target.partition(":")[0]
    return code_hash((module, "agenthard.flows.evaluation.play"))
