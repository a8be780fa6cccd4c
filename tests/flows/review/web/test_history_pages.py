"""The history of a benchmark and of one finding over the served runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.review.web.served import Server, event
from tests.flows.review.web.test_http import CLAIM, DROPPED, FOUND, KEPT

pytestmark = pytest.mark.long


def test_what_changed_from_run_to_run(serve: Callable[..., Server], demo_run: Path, later: Path) -> None:
    server = serve(demo_run, later)
    with (
        server.client("ben") as ben,
        server.client("rea", run="later") as rea,
        server.client("ben", run="later") as new,
    ):
        assert "demo is the first run" in ben.page("history")
        page = new.page("history")
        assert "From demo to later" in page and "The tasks changed" in page and "fixed" in page
        assert CLAIM not in page and "unfolds after your verdict" in page
        assert CLAIM in rea.page("history")
        assert ">parcels/11<" in new.page("queue", since="fixed")
        assert ">parcels/11<" not in new.page("queue", since="new")
        assert "persisted" in rea.page("queue")
        assert "has no task" not in new.page("task", task=DROPPED, since="fixed")

        # Who follows a finding has seen what checks say of its tasks.
        assert not new.data("task", task=DROPPED)["seen"] and not ben.data("task", task=DROPPED)["seen"]
        shown = new.page("history", finding=FOUND)
        assert CLAIM in shown and "fixed" in shown and "The tasks changed" in shown and "first run" in shown
        assert new.data("task", task=DROPPED)["seen"] and not ben.data("task", task=DROPPED)["seen"]
        ben.stored(event("finding_verdict", FOUND, answer="true"))
        assert "ben: true" in rea.page("history", finding=FOUND)
        assert f"history?finding={FOUND}" in ben.page("task", task=DROPPED)
        assert new.http.get("/runs/later/history", params={"finding": "nope"}).status_code == 400
        assert new.http.get("/runs/later/task", params={"task": KEPT}).status_code == 200


def test_one_run_alone_has_no_history(server: Server) -> None:
    with server.client("ben") as ben:
        assert "One run only" in ben.page("history")
        assert "Since the run before" not in ben.page("queue")
