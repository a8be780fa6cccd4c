"""A model that a server on loopback plays: attempts, verdicts, budgets, and what stops it."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.statistics import Estimate
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.forecast import forecast
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import load_model
from tests.flows.evaluation.conftest import attempts, evaluated, model_path
from tests.loopback import Answer, Asked, Faults, Loopback
from tests.loopback.app import change
from tests.loopback.brains import ace
from tests.loopback.odd import READABLE, Odd
from tests.loopback.talk import Said

EPISODES = 4
REQUESTS = 4


@pytest.fixture
def server(loopback: Loopback, keys: str) -> Loopback:
    """A server that plays ACE-Bench."""
    loopback.service.brain = ace
    return loopback


def settings(
    suite: Path, folder: Path, server: Loopback, model: Mapping[str, Any] | None = None, **changes: Any
) -> EvaluationSettings:
    file = load_model(str(model_path(folder, server.url, **(model or {}))))
    base = EvaluationSettings(benchmark="ace", path=str(suite), models=(file,), out=str(folder / "out"))
    return base.model_copy(update=changes)


def test_every_episode_once_and_every_token_on_the_books(suite: Path, server: Loopback, tmp_path: Path) -> None:
    outcome = evaluated(settings(suite, tmp_path, server, trials=6))
    assert outcome.complete and outcome.planned == len(attempts(tmp_path / "out")) == EPISODES * 6
    (total,), counts = outcome.costs, server.counts
    (billed,) = counts["billed"].values()
    assert (total.sent, total.answered, total.unknown) == (counts["received"], billed["requests"], 0)
    assert (total.prompt_tokens, total.completion_tokens) == (billed["prompt"], billed["completion"])
    usage = [json.loads(row["usage"]) for row in attempts(tmp_path / "out")]
    assert sum(each["requests"] for each in usage) == counts["received"]
    assert sum(each["cost"] for each in usage) == pytest.approx(total.cost)


def test_what_is_played_again_from_the_cache_gives_the_same_bytes(
    suite: Path, server: Loopback, tmp_path: Path
) -> None:
    wanted = settings(suite, tmp_path, server, cache=str(tmp_path / "replies.sqlite"))
    evaluated(wanted)
    received = server.counts["received"]
    again = wanted.model_copy(update={"out": str(tmp_path / "again")})
    outcome = evaluated(again)
    assert server.counts["received"] == received == EPISODES * REQUESTS
    assert (outcome.costs[0].cached, outcome.costs[0].sent, outcome.costs[0].cost) == (received, 0, 0.0)
    for name in ("tables/episodes.parquet", "trajectories.jsonl.gz"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


@pytest.mark.long
def test_infrastructure_errors_are_tried_again_and_then_left_without_a_verdict(
    suite: Path, server: Loopback, tmp_path: Path
) -> None:
    server.service.faults = Faults(chances={"500": 1.0})
    outcome = evaluated(settings(suite, tmp_path, server))
    rows = attempts(tmp_path / "out")
    assert [row["number"] for row in rows] == [0, 1, 2] * EPISODES
    assert {(row["status"], row["ending"], row["passed"]) for row in rows} == {("infrastructure_error", "error", None)}
    assert (outcome.settled, outcome.without_verdict, outcome.complete) == (EPISODES, EPISODES, False)
    assert list(outcome.infrastructure_errors.values()) == [3 * EPISODES]
    assert outcome.board[0].final.scored == 0
    with gzip.open(tmp_path / "out" / "trajectories.jsonl.gz", "rt") as lines:
        assert [json.loads(line)["status"] for line in lines] == ["infrastructure_error"] * EPISODES
    sent = server.counts["received"]
    assert sent == 3 * EPISODES * 2
    evaluated(settings(suite, tmp_path, server))
    assert server.counts["received"] == sent
    server.service.faults = Faults()
    more = evaluated(settings(suite, tmp_path, server, attempts=4))
    assert more.complete and len(attempts(tmp_path / "out")) == 4 * EPISODES


def test_first_attempt_and_final_stand_apart(suite: Path, server: Loopback, tmp_path: Path) -> None:
    wanted = settings(suite, tmp_path, server, model={"retries": {"attempts": 1}})
    # The first request of every episode fails once; nothing else does.
    server.service.faults = Faults(script=["500"] * EPISODES)
    outcome = evaluated(wanted)
    assert outcome.complete
    assert [row["number"] for row in attempts(tmp_path / "out")] == [0, 1] * EPISODES
    (row,) = outcome.board
    assert (row.first.scored, row.final.scored) == (0, EPISODES)
    assert isinstance(row.final.score, Estimate)


def test_a_forecast_sends_nothing_and_is_net_of_what_is_done_and_cached(
    suite: Path, server: Loopback, tmp_path: Path
) -> None:
    wanted = settings(suite, tmp_path, server, trials=2)
    (fresh,) = forecast(wanted)
    assert (fresh.episodes, fresh.begun, server.counts["received"]) == (2 * EPISODES, 0, 0)
    assert not (tmp_path / "out").exists()
    assert fresh.takes is not None and fresh.takes.cost is not None
    assert fresh.takes.requests.low <= 2 * EPISODES * REQUESTS <= fresh.takes.requests.high
    evaluated(wanted.model_copy(update={"trials": 1}))
    received = server.counts["received"]
    (half,) = forecast(wanted)
    assert (half.episodes, half.begun) == (EPISODES, 0)
    elsewhere = {"out": str(tmp_path / "other"), "cache": str(tmp_path / "out" / "work" / "replies.sqlite")}
    (begun,) = forecast(wanted.model_copy(update=elsewhere))
    assert (begun.episodes, begun.begun) == (2 * EPISODES, EPISODES)
    assert begun.takes is not None and begun.takes.cost is not None
    assert begun.takes.cost.typical == pytest.approx(fresh.takes.cost.typical / 2)
    assert server.counts["received"] == received


@pytest.mark.long
@pytest.mark.parametrize("limit", ["budget", "token_budget"])
def test_a_budget_stops_cleanly_and_a_larger_one_goes_on(
    limit: str, suite: Path, server: Loopback, tmp_path: Path
) -> None:
    enough = evaluated(settings(suite, tmp_path, server, trials=2, out=str(tmp_path / "free"))).costs[0]
    assert enough.cost is not None
    whole = enough.cost if limit == "budget" else enough.prompt_tokens + enough.completion_tokens
    part = whole * 0.8 if limit == "budget" else int(whole * 0.8)
    before = server.counts["received"]
    outcome = evaluated(settings(suite, tmp_path, server, trials=2, model=None, **{limit: part}))
    assert "the budget is spent" in outcome.stopped["loop"]
    assert 0 < len(attempts(tmp_path / "out")) < 2 * EPISODES
    ledger = Ledger(tmp_path / "out" / "work" / "ledger.sqlite")
    assert (ledger.spent().money if limit == "budget" else ledger.spent().tokens) <= part
    ledger.close()
    outcome = evaluated(settings(suite, tmp_path, server, trials=2, model=None, **{limit: whole * 3}))
    assert outcome.complete and not outcome.stopped
    # What was paid for under the first budget is not asked for again.
    assert server.counts["received"] - before == 2 * EPISODES * REQUESTS


def test_a_budget_of_nothing_sends_nothing(suite: Path, server: Loopback, tmp_path: Path) -> None:
    outcome = evaluated(settings(suite, tmp_path, server, budget=0.0))
    assert "the budget is spent" in outcome.stopped["loop"] and server.counts["received"] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"key": "another"}, "refuses the key in $COMPATIBLE_API_KEY"),
        ({"models": ["other"]}, "does not exist"),
    ],
)
def test_what_stops_a_model_leaves_the_rest_and_the_same_command_goes_on(
    now: dict[str, Any], message: str, suite: Path, server: Loopback, tmp_path: Path
) -> None:
    played = 0

    def until_then(asked: Asked) -> Answer:
        nonlocal played
        answer = ace(asked)
        played += bool(answer.calls and answer.calls[0].name == "done")
        if played == 2:
            change(server.service, now)
        return answer

    server.service.brain = until_then
    stopped = evaluated(settings(suite, tmp_path, server, agents=("random",), in_flight=1))
    assert message in stopped.stopped["loop"]
    done = [row["agent"] for row in attempts(tmp_path / "out")]
    assert done.count("random") == EPISODES and done.count("loop") == 2
    change(server.service, {"key": "test-key", "models": None})
    server.service.brain = ace
    assert evaluated(settings(suite, tmp_path, server, agents=("random",))).complete
    assert server.counts["answered"] == EPISODES * REQUESTS


def test_a_host_that_is_not_there_stops_the_model_only(suite: Path, server: Loopback, tmp_path: Path) -> None:
    gone = {"name": "compatible/loop@http://127.0.0.1:9/v1", "label": "gone"}
    other = load_model(str(model_path(tmp_path, server.url, **gone)))
    wanted = settings(suite, tmp_path, server)
    outcome = evaluated(wanted.model_copy(update={"models": (other, *wanted.models)}))
    assert list(outcome.stopped) == ["gone"] and "check the host, and that it is running" in outcome.stopped["gone"]
    assert {row["agent"] for row in attempts(tmp_path / "out")} == {"loop"}
    assert outcome.settled == EPISODES


def test_another_model_under_the_same_label_is_refused(suite: Path, server: Loopback, tmp_path: Path) -> None:
    evaluated(settings(suite, tmp_path, server))
    with pytest.raises(CommandError, match="another model loop"):
        evaluated(settings(suite, tmp_path, server, model={"sampling": {"max_output_tokens": 600}}))


@pytest.mark.long
@pytest.mark.parametrize("odd", ["surrogate", "brackets", "huge_usage", "negative_usage", "no_usage"])
def test_one_odd_conversation_leaves_the_others(odd: Odd, suite: Path, server: Loopback, tmp_path: Path) -> None:
    first = next(iter(settings(suite, tmp_path, server).open().tasks()))
    system = [said for said in prompt_of(first, tmp_path) if said.role != "system"][-1].text
    server.service.odd = lambda asked: odd if any(said.text == system for said in asked.said) else None
    wanted = settings(suite, tmp_path, server, attempts=2)
    outcome = evaluated(wanted)
    fails = odd not in READABLE
    assert (outcome.settled, outcome.without_verdict, outcome.complete) == (EPISODES, int(fails), not fails)
    (total,), counts = outcome.costs, server.counts
    assert (total.sent, total.unknown) == (counts["received"], 0)
    assert total.answered == sum(billed["requests"] for billed in counts["billed"].values())
    assert total.maybe_billed == sum(lost["requests"] for lost in counts["lost"].values())
    assert total.not_stated == (0 if fails else REQUESTS)
    evaluated(wanted)
    assert server.counts["received"] == counts["received"], "a second run pays for nothing again"


def prompt_of(task: Any, folder: Path) -> Any:
    """The messages that begin the conversation about a task."""
    request, _ = task.workload(load_model(str(folder / "model.yaml")), 0.0, 0)
    return [Said(message.role, message.text) for message in request.messages]
