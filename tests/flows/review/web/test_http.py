"""The review over HTTP, against a real server on loopback."""

import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from agenthard.flows.audited_run import read_decisions
from agenthard.flows.review.store import EventStore
from tests.flows.review.postgresql import PostgresServer
from tests.flows.review.web.served import PEOPLE, Client, Process, Server, event, undo, users_file, verdict

DROPPED, KEPT = "parcels/11", "library/0"
"""A task with a confirmed flaw of its own, and one without findings."""
FOUND = "a38334e9881a"
"""The flaw of the first."""
CAUSE = re.compile(r"cause=(\w{12})")
CLAIM = "but the documented type is"


def events(run: Path) -> list[tuple[str, str, str]]:
    with EventStore.of_run(run) as store:
        return [(event.by, event.kind, event.target_id) for event in store.since()]


def test_a_verdict_is_stored_with_what_only_the_server_knows(server: Server, demo_run: Path) -> None:
    with server.client("ana") as ana:
        [stored] = ana.stored(verdict(DROPPED, "yes", category="malformed-tool-call", seconds=4.5, blind=False))
    with EventStore.of_run(demo_run) as store:
        [kept] = list(store.since())
    assert (kept.by, kept.run, kept.seq, str(kept.id)) == ("ana", "demo", stored["seq"], stored["id"])
    assert kept.content_hash and kept.data["blind"] is True and kept.data["seconds"] == 4.5


def test_what_checks_found_is_not_sent_before_the_verdict(server: Server) -> None:
    with server.client("ben") as ben:
        before = ben.page("task", task=DROPPED)
        assert CLAIM not in before and FOUND not in before and "call-schema" not in before
        data = ben.data("task", task=DROPPED)
        assert not data["seen"] and data["shown"]["task"]["findings"] == data["shown"]["task"]["reasons"] == []
        queue = ben.page("queue", q=DROPPED)
        assert "after your verdict" in queue and "Malformed tool calls</" not in queue
        ben.stored(verdict(DROPPED))
        after = ben.page("task", task=DROPPED)
        assert CLAIM in after and "Why is it not a flaw?" in after
        assert "after your verdict" not in ben.page("queue", q=DROPPED)


@pytest.mark.parametrize("first", ["reveal", "cause", "filter"])
def test_a_verdict_after_the_checks_is_not_blind(server: Server, demo_run: Path, first: str) -> None:
    with server.client("ben") as ben:
        about = verdict(DROPPED)
        if first == "reveal":
            ben.stored(event("reveal", DROPPED))
            assert CLAIM in ben.page("task", task=DROPPED)
        elif first == "cause":
            ben.page("cause", cause=_tool_cause(ben))
            about = verdict("library/12")
        else:
            assert ben.data("task", task=DROPPED, check="call-schema")["listed_by_checks"]
            about["listed_by_checks"] = True
        ben.stored(about)
    with EventStore.of_run(demo_run) as store:
        assert list(store.since())[-1].data["blind"] is False


def _tool_cause(client: Client) -> str:
    """Id of the cause that the documentation of cancel_hold names a parameter that its code lacks."""
    found = re.search(r'cause=(\w{12})">tool documentation and code disagree', client.page("causes"))
    assert found
    return found.group(1)


def test_a_sentence_leaves_a_blind_verdict_blind_and_another_answer_does_not(server: Server, demo_run: Path) -> None:
    with server.client("ben") as ben:
        ben.stored(verdict(DROPPED), verdict(KEPT))
        ben.stored(verdict(DROPPED, reason="The schema accepts numbers as text."), verdict(KEPT, "yes"))
        assert "Why is it not a flaw?" not in ben.page("task", task=DROPPED)
    with EventStore.of_run(demo_run) as store:
        assert [each.data["blind"] for each in store.since()] == [True, True, True, False]


def test_the_same_events_again_are_stored_once(server: Server, demo_run: Path) -> None:
    sent = [verdict(DROPPED), verdict(KEPT)]
    with server.client("ana") as ana, server.client("ben") as ben:
        assert ana.stored(*sent) == ana.stored(*sent) == ana.stored(sent[0]) + ana.stored(sent[1])
        refused = ben.send(sent[0])
        assert refused.status_code == 400 and "another event with this id" in refused.json()["error"]
    assert len(events(demo_run)) == 2


def test_a_verdict_that_cannot_be_stored_now_is_to_be_sent_again(
    serve: Callable[..., Server], demo_run: Path, postgresql_server: PostgresServer
) -> None:
    url, sent = postgresql_server.new_database("away"), verdict(DROPPED)
    with serve(demo_run, store=url).client("ben") as ben:
        postgresql_server.execute("ALTER DATABASE away ALLOW_CONNECTIONS false")
        postgresql_server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'away'")
        refused = ben.send(sent)
        # A page sends again what a server answers with 5xx, and gives up what it answers with 400.
        assert refused.status_code == 503 and "the review store cannot be" in refused.json()["error"]
        postgresql_server.execute("ALTER DATABASE away ALLOW_CONNECTIONS true")
        assert [stored["id"] for stored in ben.stored(sent)] == [sent["id"]]


WRONG: list[tuple[str, str]] = [
    ("{", "not valid JSON"),
    ("[" * 100_000, "not valid JSON"),
    ("{}", "send a list"),
    ("[]", "send a list"),
    (json.dumps([{"id": "x", "kind": "verdict", "target": "task", "target_id": KEPT}]), "event 0: id: "),
    (json.dumps([event("verdict", KEPT, flaw="maybe")]), "flaw: Input should be 'yes'"),
    (json.dumps([event("verdict", KEPT, flaw="no", seconds=-1)]), "greater than or equal to 0"),
    (json.dumps([event("verdict", KEPT, flaw="yes", category="no-such")]), "no category 'no-such'"),
    (json.dumps([event("verdict", "library/O", flaw="no")]), "did you mean library/0?"),
    (json.dumps([event("finding_verdict", "a38334e9881b", answer="true")]), "no finding 'a38334e9881b'"),
    (json.dumps([event("verdict", KEPT, flaw="no", reason="a\0b")]), "null character"),
    (json.dumps([event("undo", KEPT, event="x")]), "an undo needs the id of an event"),
    (json.dumps([event("undo", KEPT, event=str(uuid4()))]), "which is not stored"),
    (json.dumps([event("delete", KEPT)]), "event 0: kind: "),
]
"""Bodies that are refused, and why."""


def test_a_wrong_request_is_refused_whole_with_the_reason(server: Server, demo_run: Path) -> None:
    good = json.dumps(verdict(KEPT))
    with server.client("ana") as ana:
        for body, message in WRONG:
            for text in [body, *([body.replace("[", f"[{good}, ", 1)] if body.startswith("[{") else [])]:
                answer = ana.http.post("/runs/demo/events", content=text.encode())
                assert answer.status_code == 400, text[:200]
                assert message in answer.json()["error"].replace("event 1", "event 0"), text[:200]
    assert events(demo_run) == []


def test_roles(server: Server, demo_run: Path) -> None:
    with server.client("ana") as ana, server.client("ben") as ben, server.client("rea") as rea:
        assert CLAIM in rea.page("task", task=DROPPED) and 'id="verdict"' not in rea.page("task", task=DROPPED)
        assert rea.send(verdict(KEPT)).status_code == 403
        given = verdict(KEPT)
        ana.stored(given)
        for refused in (
            undo(given),
            event("adjudication", KEPT, flaw="no"),
            event("assignment", KEPT, reviewer="ben"),
        ):
            assert ben.send(refused).status_code == 403
        assert ben.http.get("/runs/demo/assign").status_code == 400
        own = verdict(KEPT)
        ben.stored(own)
        ana.stored(event("assignment", DROPPED, reviewer="ben"), undo(own))
        assert "1 instance<" in ben.page("queue", status="assigned")
    assert [kind for _, kind, _ in events(demo_run)] == ["verdict", "verdict", "assignment", "undo"]


def test_what_was_seen_cannot_be_undone(server: Server) -> None:
    with server.client("ben") as ben:
        seen = event("reveal", DROPPED)
        ben.stored(seen)
        assert "cannot be undone" in ben.send(undo(seen)).json()["error"]
        given = verdict(KEPT)
        ben.stored(given)
        ben.stored(undo(given))
        assert ben.data("task", task=KEPT)["seen"]


def test_a_dispute_is_adjudicated(server: Server) -> None:
    with server.client("ana") as ana, server.client("ben") as ben, server.client("cleo") as cleo:
        ben.stored(verdict(KEPT, "yes", category="too-lenient", reason="It asks for nothing."))
        assert "It asks for nothing." not in cleo.page("task", task=KEPT)
        cleo.stored(verdict(KEPT))
        assert "It asks for nothing." in cleo.page("task", task=KEPT)
        assert "1 instance<" in ana.page("queue", status="disputed")
        assert "It asks for nothing." in ana.page("disputes") and "1 open dispute<" in ana.page("disputes")
        ana.stored(event("adjudication", KEPT, flaw="no", reason="It asks for a renewal."))
        assert "0 open disputes<" in ana.page("disputes") and "It asks for a renewal." in cleo.page("disputes")


def test_filters_count_what_they_would_leave(server: Server) -> None:
    with server.client("ana") as ana:
        assert "60 instances<" in ana.page("queue") and "page 1 of 2" in ana.page("queue")
        page = ana.page("queue", category="malformed-tool-call")
        assert '<option value="malformed-tool-call" selected>Malformed tool calls (' in page
        assert "0 instances<" in ana.page("queue", category="no-such") and "No instance matches" in ana.page(
            "queue", q="no such task"
        )
        ana.stored(verdict(KEPT))
        assert "59 instances<" in ana.page("queue", status="open")
        assert '<option value="decided">decided by you (1)' in ana.page("queue")
        assert "10 instances" not in ana.page("queue", page="999999999999")


def test_each_reviewer_has_an_order_of_their_own_within_a_rank(server: Server) -> None:
    def order(name: str) -> list[str]:
        with server.client(name) as client:
            return re.findall(r'class="row-link mono"[^>]*>([^<]+)<', client.page("queue"))

    ana, ben = order("ana"), order("ben")
    assert ana == order("ana") and ana != ben and len(ana) == 50
    assert {*ana[:2]} == {*ben[:2]} or ana[0].split("/")[0] in ("library", "parcels")


def test_the_next_task_of_a_list_that_a_verdict_leaves(server: Server) -> None:
    with server.client("ana") as ana:
        first = ana.data("task", task=KEPT, status="open")
        ana.stored(verdict(KEPT))
        assert ana.data("task", task=KEPT, status="open")["next"] == first["next"]


def test_a_cause_tells_what_each_answer_would_change(server: Server, demo_run: Path) -> None:
    with server.client("ana") as ana:
        page = ana.page("cause", cause=_tool_cause(ana))
        assert "cancel_hold documents a parameter" in page and "library/12" in page
        assert "No decision changes." in page and "True: it is a flaw" in page
        cluster = next(
            each for each in CAUSE.findall(ana.page("causes")) if "gold call" in ana.page("cause", cause=each)
        )
        assert 'type="checkbox" name="finding"' in ana.page("cause", cause=cluster)
    assert {kind for _, kind, _ in events(demo_run)} == {"reveal"}


def test_an_unknown_page_says_so(server: Server) -> None:
    with server.client("ana") as ana:
        for path, status in (("/runs/other/queue", 404), ("/runs/demo/nothing", 404), ("/static/../app.py", 404)):
            assert ana.http.get(path).status_code == status
        found = ana.http.get("/runs/demo/task", params={"task": "parcels/1l"})
        assert found.status_code == 400 and "did you mean parcels/1" in found.text


@pytest.mark.long
def test_nothing_is_lost_when_the_server_is_killed(process: Callable[..., Process], home: Path, demo_run: Path) -> None:
    server = process("--users", str(users_file(home)))
    with server.client("ana") as ana:
        stored = [ana.stored(verdict(f"library/{number}"))[0]["id"] for number in range(5)]
        server.kill()
        with pytest.raises(httpx.TransportError):
            ana.send(verdict(DROPPED))
        server.start()
        assert "decided by you (5)" in ana.page("queue")  # the session outlives the server
    with EventStore.of_run(demo_run) as store:
        assert [str(each.id) for each in store.since()] == stored
    assert server.stop() == 0


def test_without_a_users_file_the_printed_address_is_the_way_in(serve: Callable[..., Server], demo_run: Path) -> None:
    server = serve(demo_run, users=None, name="zoe")
    address = server.greeting.split()[1]
    assert address.startswith(f"{server.base}/enter?token=")
    with httpx.Client(base_url=server.base) as http:
        assert http.get("/runs/demo/queue").headers["location"] == "/enter"
        assert http.get("/enter?token=wrong-token-000000").status_code == 403
        entered = http.get(address)
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        assert "zoe" in http.get("/", follow_redirects=True).text


def test_several_runs_and_one_store(serve: Callable[..., Server], demo_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other audit"
    shutil.copytree(demo_run, other)
    url = f"sqlite:///{tmp_path / 'both.db'}"
    server = serve(demo_run, other, store=url)
    with server.client("ana") as ana, server.client("ana", run="other audit") as second:
        assert "other audit" in ana.http.get("/").text
        ana.stored(verdict(KEPT))
        second.stored(verdict(DROPPED))
        assert "decided by you (1)" in ana.page("queue") and "reviewed 1 of 60" in second.page("queue")
    with EventStore(url) as store:
        assert store.runs() == ["demo", "other audit"]
    assert not (demo_run / "review.db").exists()


def test_a_reverse_proxy_names_the_user(serve: Callable[..., Server], demo_run: Path) -> None:
    server = serve(demo_run, proxy_header="X-User", public_hosts=("review.example.org",))
    with httpx.Client(base_url=server.base, headers={"host": "review.example.org"}) as http:
        assert "(admin)" in http.get("/runs/demo/queue", headers={"x-user": "ana"}).text
        assert http.get("/runs/demo/queue", headers={"x-user": "zoe"}).status_code == 303
        assert http.get("/runs/demo/queue").status_code == 303


def test_a_repair_is_tried_in_a_copy_and_accepted(server: Server, demo_run: Path) -> None:
    with server.client("ana") as ana:
        assert ana.http.get("/runs/demo/repair", params={"task": DROPPED}).status_code == 400
        ana.stored(event("reveal", DROPPED))
        page = ana.page("repair", task=DROPPED)
        assert "/ground_truth/turns/0/0/arguments/weight_grams" in page
        path = "/ground_truth/turns/0/0/arguments/weight_grams"
        patch = [{"op": "replace", "path": path, "value": 1250}]

        def tried(patch: object) -> httpx.Response:
            body = {"task": DROPPED, "finding": FOUND, "patch": json.dumps(patch)}
            return ana.http.post("/runs/demo/repair", json=body)

        good = tried(patch).text
        assert 'data-accepted="yes"' in good and "+" in good and "If the present form is intended" in good
        assert 'data-accepted="no"' in tried([{**patch[0], "value": "heavy"}]).text
        for wrong in ([], {}, [{"op": "replace", "path": path}], [{"op": "remove", "path": 1}], [{"op": "no"}]):
            assert tried(wrong).status_code == 400
        assert ana.send(event("repair", DROPPED, outcome="accepted", patch=patch)).status_code == 400
        assert (
            ana.send(event("repair", DROPPED, outcome="accepted", patch=patch, finding="5980e3eba98a")).status_code
            == 400
        )
        ana.stored(event("repair", DROPPED, outcome="accepted", patch=patch, finding=FOUND))
        assert "ana has accepted a patch" in ana.page("repair", task=DROPPED)


@pytest.mark.long
def test_eight_people_at_once_lose_and_double_nothing(server: Server, demo_run: Path) -> None:
    people = [name for name, role in PEOPLE.items() if role != "reader"]
    ids = [decision.task_id for decision in read_decisions(demo_run)]

    def work(name: str) -> dict[str, str]:
        last: dict[str, str] = {}
        with server.client(name) as client:
            for number in range(100):
                task_id, flaw = ids[number * 7 % len(ids)], ("no", "cannot_tell")[(number + len(name)) % 2]
                sent = verdict(task_id, flaw)
                assert client.stored(sent) == client.stored(sent)  # the answer was lost: the page sends it again
                last[task_id] = sent["id"]
        return last

    with ThreadPoolExecutor(len(people)) as pool:
        last = dict(zip(people, pool.map(work, people), strict=True))
    with EventStore.of_run(demo_run) as store:
        kept = list(store.since())
        state = store.state("demo")
    assert len(kept) == len({each.id for each in kept}) == 100 * len(people)
    assert [each.seq for each in kept] == sorted(each.seq or 0 for each in kept)
    for name, found in last.items():
        for task_id, identity in found.items():
            assert str(state.item(("task", task_id)).verdicts[name].id) == identity


@pytest.mark.long
def test_the_address_as_json(process: Callable[..., Process]) -> None:
    started = process("--name", "ana", "--json")
    said = json.loads(started.greeting)
    assert said["runs"] == ["demo"] and said["url"].startswith(f"{started.base}/enter?token=")
    assert httpx.get(said["url"]).status_code == 303
