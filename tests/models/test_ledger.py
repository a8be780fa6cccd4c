import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenthard.models.budget import Amount, Budget
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.request import Usage
from tests.models.scripted import MODEL

ROOT = Path(__file__).parents[2]
ENTRY = Entry(MODEL, "agent", "e1", "d1")
UPPER = Amount(1, 100, 0.5)
FREE = Budget()


def opened(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite", now=iter(range(1000)).__next__)


def send(ledger: Ledger, entry: Entry = ENTRY, upper: Amount = UPPER, budget: Budget = FREE) -> int:
    row = ledger.send(entry, upper, budget)
    assert row is not None
    return row


def test_every_outcome_has_its_state(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    usage = Usage(prompt_tokens=10, completion_tokens=5, cached_tokens=4, reasoning_tokens=3)
    ledger.answered(send(ledger), usage, 0.02)
    ledger.failed(send(ledger), "RateLimitError", maybe_billed=False)
    ledger.failed(send(ledger), "MalformedReplyError", maybe_billed=True)
    send(ledger)
    ledger.hit(ENTRY, usage, 0.02)
    (total,) = ledger.totals()
    assert total.model_dump() == {
        "model": MODEL,
        "purpose": "agent",
        "owner": None,
        "sent": 4,
        "answered": 1,
        "failed": 1,
        "maybe_billed": 1,
        "unknown": 1,
        "cached": 1,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cached_tokens": 4,
        "reasoning_tokens": 3,
        "cost": 0.02,
        "unpriced": 0,
        "not_stated": 0,
        "possible_cost": 1.0,
    }
    rows = ledger.of_owner("e1")
    assert [(row.state, row.reason, row.sent_at, row.closed_at) for row in rows] == [
        ("answered", None, 0, 1),
        ("failed", "RateLimitError", 2, 3),
        ("maybe_billed", "MalformedReplyError", 4, 5),
        ("sent", None, 6, None),
        ("cached", None, 7, 7),
    ]
    # 15 tokens answered, 0 refused, 100 each for the one that may be billed and the one under way.
    assert list(ledger.spent()) == pytest.approx([4, 215, 1.02])


def test_a_hit_closes_the_row_of_a_process_that_died_after_it_stored_the_reply(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    usage = Usage(prompt_tokens=10, completion_tokens=5)
    send(ledger, Entry(MODEL, "agent", "e0", "d0"))
    lost, kept = send(ledger), send(ledger)
    ledger.hit(ENTRY, usage, 0.02, stated=False)
    ledger.hit(ENTRY, usage, 0.02)
    rows = ledger.of_owner("e1")
    assert [(row.id, row.state) for row in rows[:2]] == [(lost, "sent"), (kept, "answered")]
    assert [row.state for row in rows[2:]] == ["cached", "cached"]
    (total,) = ledger.totals(by=())
    assert (total.answered, total.unknown, total.not_stated, total.cost) == (1, 2, 1, 0.02)
    # 15 tokens are counted for the reply, 100 for each request with an unknown outcome.
    assert list(ledger.spent()) == pytest.approx([3, 215, 1.02])


def test_sums_by_any_keys(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    for model, purpose, owner, cost in [
        ("m", "user", "e1", 1.0),
        ("m", "agent", "e2", 2.0),
        ("a", "agent", "e2", None),
    ]:
        ledger.answered(send(ledger, Entry(model, purpose, owner, "d")), Usage(prompt_tokens=1), cost)
    assert [(t.model, t.purpose, t.cost) for t in ledger.totals()] == [
        ("a", "agent", None),
        ("m", "agent", 2.0),
        ("m", "user", 1.0),
    ]
    assert [(t.owner, t.sent, t.cost, t.unpriced) for t in ledger.totals(by=("owner",))] == [
        ("e1", 1, 1.0, 0),
        ("e2", 2, 2.0, 1),
    ]
    assert [(t.model, t.sent, t.cost) for t in ledger.totals(by=())] == [(None, 3, 3.0)]


def test_an_empty_ledger_has_no_totals(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.totals() == ledger.totals(by=()) == [] and ledger.spent() == (0, 0, 0.0)


def test_only_refusals_cost_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.failed(send(ledger), "ServerError", maybe_billed=False)
    assert ledger.totals()[0].cost == 0.0


def test_a_budget_counts_what_is_under_way(tmp_path: Path) -> None:
    ledger, budget = opened(tmp_path), Budget(money=1.2)
    first = send(ledger, budget=budget)
    second = send(ledger, budget=budget)
    assert ledger.send(ENTRY, UPPER, budget) is None
    ledger.answered(first, Usage(prompt_tokens=10), 0.1)
    third = send(ledger, budget=budget)
    ledger.failed(second, "RateLimitError", maybe_billed=False)
    ledger.failed(third, "RequestTimeoutError", maybe_billed=True)
    assert list(ledger.spent()) == pytest.approx([3, 110, 0.6])
    assert opened(tmp_path).send(ENTRY, Amount(1, 1, 0.7), budget) is None, "another process counts the same"


KILLED = """
import os, signal, sys
from agenthard.models.budget import Amount, Budget
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.request import Usage
ledger = Ledger(sys.argv[1])
for n in range(100):
    row = ledger.send(Entry("m", "agent", f"e{n}", "d"), Amount(1, 10, 0.25), Budget())
    print(n, flush=True)
    if n == 30:
        os.kill(os.getpid(), signal.SIGKILL)
    ledger.answered(row, Usage(prompt_tokens=1), 0.125)
"""


def test_kill_9_loses_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL and done.stdout.split()[-1] == "30"
    (total,) = Ledger(path).totals()
    assert (total.sent, total.answered, total.unknown) == (62, 60, 2)
    assert (total.cost, total.possible_cost) == (7.5, 0.5)
    assert [row.state for row in Ledger(path).of_owner("e30")] == ["sent", "sent"]


SHARING = """
import sys
from agenthard.models.budget import Amount, Budget
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.request import Usage
ledger, sent = Ledger(sys.argv[1]), 0
while (row := ledger.send(Entry("m", "agent", "e", "d"), Amount(1, 10, 0.5), Budget(calls=500))) is not None:
    ledger.answered(row, Usage(prompt_tokens=3), 0.25)
    sent += 1
print(sent)
"""


def test_processes_share_one_budget(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHARING, str(tmp_path / "ledger.sqlite")]
    runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    sent = [int(run.communicate()[0]) for run in runs]
    assert sum(sent) == 500
    assert Ledger(tmp_path / "ledger.sqlite").spent() == (500, 1500, 125.0)
