"""What was found to grow faster than its input by ``perf/bench_check_limits.py``, on long texts."""

import time
from collections.abc import Callable

import pytest

from agenthard.audit.detectors.support.gold_values import stands_alone
from agenthard.audit.detectors.support.prompt_calls import code_blocks, without_code_blocks
from agenthard.audit.detectors.support.speech import machine_speech, narration

MOST_SECONDS = 4.0
"""Quadratic growth took minutes at these sizes."""


@pytest.mark.parametrize(
    "work",
    [
        lambda: narration("\n" * 100_000),
        lambda: narration("-" * 200_000),
        lambda: narration(" (ab)" * 40_000 + " "),
        lambda: machine_speech("aB1_" * 50_000),
        lambda: code_blocks("`" * 200_000),
        lambda: without_code_blocks("~" * 200_000),
        lambda: stands_alone("a " * 50_000 + "b", "a " * 100_000),
        lambda: stands_alone("a " * 50_000, "a " * 100_000),
    ],
    ids=["breaks", "rules", "asides", "a long word", "a long fence", "another fence", "absent", "present"],
)
def test_a_long_text_takes_seconds(work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    assert time.process_time() - began < MOST_SECONDS


def test_a_long_value_is_found_where_it_stands_alone() -> None:
    value = "word " * 400 + "end"
    found = stands_alone(value, f"It is {value.upper()}, he says.")
    assert found is not None and found.span() == (6, 6 + len(value))
    assert stands_alone(value, f"It is {value}s.") is None
