"""Episodes happen once: claims between processes, attempts, and what a killed process leaves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenthard.flows.evaluation.episodes import Episode, EpisodeAttempt, Selection, TaskFacts, episodes_of
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.workers import Worker, release_dead
from agenthard.models.errors import StorageError
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

EPISODES = list(episodes_of("t0", ("a", "b"), (0.0, 0.5), 2))


def attempt(episode: Episode, number: int = 0, status: RunStatus = "ok", passed: bool | None = True) -> EpisodeAttempt:
    run = Trajectory(
        id="/".join(map(str, episode)),
        task_id=episode.task_id,
        model=episode.agent,
        trial=episode.trial,
        status=status,
        passed=passed,
        usage={"turns": 3},
    )
    return EpisodeAttempt(number=number, trajectory=run, seconds=0.5)


@pytest.fixture
def store(tmp_path: Path) -> EpisodeStore:
    opened = EpisodeStore(tmp_path / "episodes.sqlite")
    opened.add_tasks([TaskFacts(id="t0", group="g", facts={"hidden_slots": 3}), TaskFacts(id="t1", group="g")])
    return opened


def test_episodes_are_agents_by_rates_by_trials() -> None:
    assert len(EPISODES) == 2 * 2 * 2
    assert EPISODES[0] == Episode("a", "t0", 0.0, 0) and EPISODES[-1] == Episode("b", "t0", 0.5, 1)


def test_an_episode_is_taken_once(store: EpisodeStore, tmp_path: Path) -> None:
    other = EpisodeStore(tmp_path / "episodes.sqlite")
    assert [episode for episode, _ in store.claim(EPISODES[:3], "w1", 3)] == EPISODES[:3]
    assert [episode for episode, _ in other.claim(EPISODES[:5], "w2", 3)] == EPISODES[3:5]
    assert store.claimants() == ["w1", "w2"]


def test_a_settled_episode_is_not_taken_again(store: EpisodeStore) -> None:
    store.claim(EPISODES[:1], "w1", 3)
    store.add(EPISODES[0], attempt(EPISODES[0]))
    assert store.claimants() == []
    assert store.claim(EPISODES[:1], "w1", 3) == []
    assert store.settled(Selection(("a", "b"), (0.0, 0.5), 2), 3) == 1
    assert store.settled(Selection(("a", "b"), (0.5,), 2), 3) == 0
    assert store.settled(Selection(("b",), (0.0, 0.5), 2), 3) == 0


def test_variants_of_the_conditions_are_episodes_of_their_own(store: EpisodeStore) -> None:
    none, plain = Episode("a", "t0", 0.0, 0, "feedback=none"), EPISODES[0]
    store.add(none, attempt(none))
    assert [episode for episode, _ in store.claim([none, plain], "w1", 3)] == [plain]
    assert store.settled(Selection(("a",), (0.0,), 1, ("feedback=none",)), 3) == 1
    assert store.settled(Selection(("a",), (0.0,), 1), 3) == 0
    assert list(store.settled_episodes(3)) == [none]


def test_an_infrastructure_error_is_tried_again_up_to_a_number(store: EpisodeStore) -> None:
    episode = EPISODES[0]
    for number in range(2):
        assert store.claim([episode], "w", 2) == [(episode, number)]
        store.add(episode, attempt(episode, number, "infrastructure_error", None))
    assert store.claim([episode], "w", 2) == []
    assert store.settled(Selection(("a",), (0.0,), 1), 2) == 1
    assert store.settled(Selection(("a",), (0.0,), 1), 3) == 0
    assert [row["number"] for row in store.rows()] == [0, 1]
    assert [run.status for _, run in store.trajectories()] == ["infrastructure_error"]


def test_what_is_stored_is_not_replaced(store: EpisodeStore) -> None:
    store.add(EPISODES[0], attempt(EPISODES[0]))
    store.add(EPISODES[0], attempt(EPISODES[0], passed=False))
    (row,) = store.rows()
    assert row["passed"] == 1 and row["usage"] == '{"turns": 3.0}'


def test_the_last_attempt_is_the_trajectory(store: EpisodeStore) -> None:
    store.add(EPISODES[0], attempt(EPISODES[0], 0, "infrastructure_error", None))
    store.add(EPISODES[0], attempt(EPISODES[0], 1, passed=False))
    ((_, run),) = store.trajectories()
    assert run.passed is False


def test_the_living_keep_what_they_took_and_the_dead_do_not(store: EpisodeStore, tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    alive = Worker(folder)
    store.claim(EPISODES[:1], alive.name, 3)
    code = (
        "import sys, time, pathlib\n"
        "from agenthard.flows.evaluation.store import EpisodeStore\n"
        "from agenthard.flows.evaluation.workers import Worker\n"
        "from agenthard.flows.evaluation.episodes import Episode\n"
        f"worker = Worker(pathlib.Path({str(folder)!r}))\n"
        f"store = EpisodeStore(pathlib.Path({str(tmp_path / 'episodes.sqlite')!r}))\n"
        f"store.claim([Episode(*{tuple(EPISODES[1])!r})], worker.name, 3)\n"
        "print('taken', flush=True)\n"
        "time.sleep(600)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "taken\n"
    assert not release_dead(folder, store)
    assert len(store.claimants()) == 2
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    assert release_dead(folder, store)
    assert store.claimants() == [alive.name]
    assert [episode for episode, _ in store.claim(EPISODES[:2], "w3", 3)] == [EPISODES[1]]
    alive.close()


def test_a_row_is_written_whole_or_not_at_all(store: EpisodeStore) -> None:
    store.claim(EPISODES[:1], "w", 3)
    with pytest.raises(StorageError, match="NOT NULL"):
        store.add(EPISODES[0]._replace(agent=None), attempt(EPISODES[0]))  # type: ignore[arg-type]
    assert list(store.rows()) == []
    store.add(EPISODES[0], attempt(EPISODES[0]))
    assert len(list(store.rows())) == 1
