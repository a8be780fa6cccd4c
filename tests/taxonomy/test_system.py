"""Processes of a pool end with the process that started them."""

import subprocess
import sys
import time

from agenthard.taxonomy.system import process_exists

POOL = """
import os, signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from agenthard.taxonomy.system import follow_parent
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=follow_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_ends_with_its_parent_even_if_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", POOL], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.wait()
    deadline = time.monotonic() + 30
    while process_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not process_exists(worker)
