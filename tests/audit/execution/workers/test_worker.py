import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.workers import Worker, WorkerPool
from agenthard.audit.execution.workers.channel import waited_seconds

SCRIPT = Path(__file__).with_name("misbehaving.py")


def remember(worker: Worker, value: str) -> Any:
    [answer] = worker.ask({"acts": ["remember"], "with": value})
    return answer


def test_a_process_keeps_its_state_until_it_is_restarted(pool: WorkerPool) -> None:
    worker = pool.lease()
    assert worker.fresh
    assert remember(worker, "a") == ["a"]
    assert remember(worker, "b") == ["a", "b"]
    worker.restart()
    assert worker.fresh
    assert remember(worker, "c") == ["c"]


def test_answers_stream_until_one_breaks(pool: WorkerPool) -> None:
    worker = pool.lease()
    answers = []
    with pytest.raises(ExecutionError, match="exit"):
        for answer in worker.ask({"acts": ["echo", "echo", "exit", "echo"], "with": 7}):
            answers.append(answer)
    assert answers == [7, 7]


def test_answers_that_nobody_wants_are_thrown_away(pool: WorkerPool) -> None:
    worker = pool.lease()
    stream = worker.ask({"acts": ["echo"] * 3, "with": "first"})
    assert next(stream) == "first"
    del stream
    assert list(worker.ask({"acts": ["echo"], "with": "second"})) == ["second"]


def test_a_worker_given_back_is_used_again_and_has_forgotten(pool: WorkerPool) -> None:
    worker = pool.lease()
    assert remember(worker, "secret") == ["secret"]
    pool.give_back(worker)
    again = pool.lease()
    assert again is worker
    assert remember(again, "next") == ["next"]
    assert pool.lease() is not again


def test_threads_have_workers_of_their_own(pool: WorkerPool) -> None:
    def work(number: int) -> Any:
        worker = pool.lease()
        try:
            act = "exit" if number % 5 == 0 else "remember"
            return list(worker.ask({"acts": [act], "with": number}))
        except ExecutionError:
            return "failed"
        finally:
            pool.give_back(worker)

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(work, range(20)))
    assert done == ["failed" if number % 5 == 0 else [[number]] for number in range(20)]


def test_closing_leaves_nothing(pool: WorkerPool) -> None:
    worker = pool.lease()
    [about] = worker.ask({"acts": ["about"]})
    home = Path(about["folder"]).parent
    assert home.is_dir()
    pool.close()
    assert not home.exists()
    assert remember(worker, "a new start") == ["a new start"]
    worker.close()


def test_a_script_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("import no_such_benchmark\n")
    with pytest.raises(UnavailableError, match="broken.py cannot be run by .*No module named 'no_such_benchmark'"):
        list(Worker(Path(sys.executable), script).ask({}))


def test_an_interpreter_that_is_absent_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="nowhere cannot be run"):
        list(Worker(tmp_path / "nowhere", SCRIPT).ask({}))


def test_a_process_that_ends_without_closing_leaves_nothing(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from agenthard.audit.execution.workers import Worker
worker = Worker(Path(sys.executable), Path({str(SCRIPT)!r}))
for value in ("a", "b"):
    worker.restart()
    [about] = worker.ask({{"acts": ["about"]}})
print(about["folder"])
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    for _ in range(200):
        if not any(tmp_path.iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError(f"left behind: {list(tmp_path.iterdir())}")


def test_requests_that_are_sent_together_have_one_answer_each_from_one_process(pool: WorkerPool) -> None:
    worker = pool.lease()
    requests = [{"acts": ["remember"], "with": "a"}, {"acts": ["echo"], "with": 7}, {"acts": ["remember"], "with": "b"}]
    assert worker.ask_all(requests) == [["a"], 7, ["a", "b"]]


def test_a_request_that_breaks_ends_those_that_were_sent_with_it(pool: WorkerPool) -> None:
    worker = pool.lease()
    with pytest.raises(ExecutionError, match="exit"):
        worker.ask_all([{"acts": ["echo"]}, {"acts": ["exit"]}, {"acts": ["echo"]}])
    assert worker.fresh


@pytest.mark.parametrize(("acts", "why"), [([], "gave no answer"), (["echo", "echo"], "more answers than")])
def test_each_of_several_requests_has_exactly_one_answer(pool: WorkerPool, acts: list[str], why: str) -> None:
    with pytest.raises(ExecutionError, match=why):
        pool.lease().ask_all([{"acts": acts}, {"acts": ["echo"]}])


def test_an_endless_request_among_several_is_stopped_by_its_own_processor_time(pool: WorkerPool) -> None:
    with pytest.raises(ExecutionError, match="more than 1 s of processor time"):
        pool.lease().ask_all([{"acts": ["echo"]}, {"acts": ["loop"]}])


def test_waiting_for_a_process_is_counted_apart(pool: WorkerPool) -> None:
    worker, before = pool.lease(), waited_seconds()
    remember(worker, "a")
    first = waited_seconds()
    assert first > before
    sum(range(1000))
    assert waited_seconds() == first
    with ThreadPoolExecutor(1) as other:
        assert other.submit(waited_seconds).result() == 0
