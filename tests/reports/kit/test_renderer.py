"""The process that draws: one for all drawings, replaced when it ends, and answers that name what is wrong."""

import os
import subprocess
import sys
from typing import Any

import pytest

from agenthard.reports.kit import renderer
from agenthard.reports.kit.renderer import stop_renderer, to_svg

CHART: dict[str, Any] = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a"}}}


def test_drawings_of_one_process_are_equal_to_those_of_another() -> None:
    first, pid = to_svg(CHART), renderer._process(os.getpid()).pid
    assert first.startswith("<svg") and to_svg(CHART) == first
    assert renderer._process(os.getpid()).pid == pid
    stop_renderer()
    assert to_svg(CHART) == first and renderer._process(os.getpid()).pid != pid


def test_a_chart_that_cannot_be_drawn_is_an_error_and_the_next_one_is_drawn() -> None:
    with pytest.raises(ValueError, match="Vega-Lite to SVG conversion failed"):
        to_svg({"mark": "nonsense"})
    assert to_svg(CHART).startswith("<svg")


def test_a_process_that_ended_is_named_and_replaced() -> None:
    to_svg(CHART)
    process = renderer._process(os.getpid())
    process.kill()
    process.wait()
    with pytest.raises(RuntimeError, match="draws the figures ended with exit code -9.*memory"):
        to_svg(CHART)
    assert to_svg(CHART).startswith("<svg")


def test_no_address_is_read() -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        to_svg({"data": {"url": "http://127.0.0.1:9/data.json"}, "mark": "point", "encoding": {"x": {"field": "a"}}})


def test_it_ends_with_the_process_that_asked() -> None:
    code = (
        "from agenthard.reports.kit import renderer as r; import os, sys; "
        f"r.to_svg({CHART!r}); print(r._process(os.getpid()).pid)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert not done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
