"""A check that does not come to an end is an error row, wherever it hangs."""

import re
import signal
import threading
from collections.abc import Iterable
from typing import ClassVar

import pytest

from agenthard.audit import shards, time_limit
from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.shards import check_shard
from agenthard.audit.time_limit import CheckTimeoutError, cpu_limit
from agenthard.taxonomy import AgentTask, Severity, Status, Tier
from tests.builders import make_task


class Hangs(TaskDetector):
    id: ClassVar[str] = "hangs"
    title = "test"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        while task.id == "slow":
            try:
                re.search(r"(a+)+$", "a" * 30 + "b")
            except Exception:  # noqa: BLE001, S112 - a check that swallows everything is stopped as well
                continue
        yield from ()


def test_a_regular_expression_that_explodes_is_stopped() -> None:
    with pytest.raises(CheckTimeoutError, match=r"stopped after 0.2 s of CPU time"), cpu_limit(0.2):
        re.search(r"(a+)+$", "a" * 40 + "b")


def test_one_check_on_one_task_is_an_error_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "cpu_limit", lambda: cpu_limit(0.2))
    slow, rest = check_shard([make_task("slow"), make_task("fine")], {}, [Hangs()]).coverage
    assert (slow.status, rest.status) == (Status.ERROR, Status.CLEAN)
    assert slow.reason.startswith("CheckTimeoutError: stopped after 0.2 s of CPU time")


def test_the_limit_leaves_no_timer_and_no_handler_behind() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with cpu_limit(), cpu_limit(30):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before


def test_other_threads_are_not_limited_and_not_disturbed() -> None:
    done: list[bool] = []

    def work() -> None:
        with cpu_limit(0.001):
            done.append(sum(range(100_000)) > 0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_the_limit_is_generous() -> None:
    assert time_limit.SECONDS >= 60
