"""The stream of a suite: order, and what is yielded before a failure."""

from collections.abc import Callable
from concurrent.futures import Future
from itertools import islice
from typing import Any

import pytest

from agenthard.ace.generator import Cell, GenerationError, Parameters, generate, make
from agenthard.ace.instance import Instance

SUITE = Parameters(rows=2, cols=3, hidden_slots=(2,), decoy_budgets=(2,), candidates=4, domains=("meal",), per_cell=30)


class Slow:
    """A pool that has finished nothing until it is asked for the result."""

    def __init__(self, *_: object, **__: object) -> None:
        """Takes what the real one takes."""
        self.handed_in = 0

    def submit(self, work: Callable[..., Any], *arguments: object) -> "Future[Any]":
        self.handed_in += 1
        return Late(work, *arguments)

    def shutdown(self, **_: object) -> None:
        """Nothing runs."""


class Late(Future):  # type: ignore[type-arg]
    """Work that is done when its result is taken."""

    def __init__(self, work: Callable[..., Any], *arguments: object) -> None:
        super().__init__()
        self._work = work, arguments

    def done(self) -> bool:
        return False

    def result(self, timeout: float | None = None) -> Any:
        work, arguments = self._work
        return work(*arguments)


@pytest.fixture
def slow_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.play.stream.ProcessPoolExecutor", Slow)


@pytest.mark.usefixtures("slow_processes")
def test_this_process_works_too_while_others_are_slow_and_order_is_kept() -> None:
    numbers = [made.provenance.index for made in generate(SUITE, workers=2) if made.provenance]
    assert numbers == list(range(30))


@pytest.mark.usefixtures("slow_processes")
@pytest.mark.parametrize("workers", [1, 2])
def test_what_comes_before_a_failure_is_handed_over(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(parameters: Parameters, cell: Cell) -> Instance:
        if cell.number == 16:  # in the fifth batch, which this process makes while the others work on three
            raise GenerationError("made up for this test")
        return make(parameters, cell)

    monkeypatch.setattr("agenthard.ace.generator.stream.make", fails)
    stream = generate(SUITE, workers=workers)
    assert [made.id for made in islice(stream, 16)][-1] == "meal_r2_c3_h2_b2_i15"
    with pytest.raises(GenerationError, match="made up"):
        next(stream)
