import pytest

from agenthard.audit.detectors.environment import LiveDependence
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task


@pytest.mark.parametrize(
    "said",
    [
        "Open an issue in https://github.com/acme/board.",
        "Issue web queries about trains.",
        "Locate a Hugging Face dataset of tweets.",
        "Collect reports published within the last three years.",
        "Write a script that calls `gpt-4o` for each row.",
    ],
)
def test_what_changes_outside(said: str) -> None:
    [hit] = LiveDependence().inspect(open_task(said))
    assert hit.evidence[0].quote == said


@pytest.mark.parametrize(
    "said",
    [
        "Serve it at http://localhost:8080/app.",
        'Write {"url": "https://..."} for each source.',
        "Run a web search; all facts as of March 2024.",
        "Write a script that calls `gpt-4o`, and test it with a mock client.",
        "The game was published in the last century.",
    ],
)
def test_what_stays(said: str) -> None:
    assert list(LiveDependence().inspect(open_task(said))) == []


def closed(said: str, policy: str = "", **arguments: str) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"day": "2025-03-04", **arguments})
    base = make_task()
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=base.environment.model_copy(update={"policy": policy}),
        ground_truth=GroundTruth(semantics="required", turns=((call,),)),
    )


@pytest.mark.parametrize(
    ("said", "policy", "quoted"),
    [
        ("Lend it. Only if https://tides.example/quay shows low water.", "", "https://tides.example/quay"),
        ("See https://tides.example for the latest height and lend as many days.", "", "https://tides.example"),
        ("Lend it unless the ferry's website lists a strike right now.", "", "website lists a strike"),
        ("Go with whatever Wikipedia lists first.", "", "Wikipedia lists"),
        ("Check tides.example.com. If the water is high, leave it.", "", "Check tides.example.com."),
        ("The rate is to be found on the internet, and above 2 I am not interested.", "", "on the internet"),
        ("If the weather forecast says rain, leave it.", "", "forecast says rain"),
        ("Lend it for a week.", "Today is ${TODAY}.", "${TODAY}"),
        ("Lend it for a week.", "It is {{ today }}.", "{{ today }}"),
        ("Lend it for a week.", "Date: {date}", "{date}"),
        ("Lend it for a week.", "<%= Time.now.strftime('%F') %> is the present.", "Time.now"),
        ("Lend it for a week.", "The present moment: #{DateTime.now}", "#{DateTime.now}"),
        ("Lend it for a week.", "Now it is {arrow.utcnow():YYYY}.", "utcnow"),
        ("Lend it for a week.", "Count from __TODAY__.", "__TODAY__"),
        ("Lend it for a week.", "Take `Date.now()` as the present.", "Date.now()"),
        ("As per tides.example/quay it is high water. Then skip it.", "", "tides.example/quay"),
        ("<WWW.TIDES.EXAMPLE> has the final say on the day.", "", "WWW.TIDES.EXAMPLE"),
        ("Look up the wind on Quay Radar. If it blows, leave it.", "", "Quay Radar"),
        ("Lend it for a week.", "Count days from the system clock.", "system clock"),
    ],
)
def test_a_closed_world_that_hangs_on_the_one_outside(said: str, policy: str, quoted: str) -> None:
    task = closed(said, policy)
    assert LiveDependence().not_applicable(task) is None
    [hit] = LiveDependence().inspect(task)
    assert quoted in hit.evidence[0].quote and failure(hit.evidence[0], task, {}) is None


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        ("Lend the book of https://tides.example/quay.", ""),
        ("The page https://tides.example/quay was nice. If you can, lend it.", ""),
        ("Put the current video https://tides.example/quay on it only if you can.", ""),
        ("I found you online. Lend it.", ""),
        ("Your website says that it is free; if so, lend it.", ""),
        ("I'll check online myself whether it is there. Lend it.", ""),
        ("Post it on Twitter if it is ready.", ""),
        ("Find the book against Google that was filed today.", ""),
        ("Return what I bought in the online store, if you can see it.", ""),
        ("Lend it for a week.", "Today is 2025-02-25, by the system clock."),
        ("Lend it for a week.", "The clock on the wall is broken."),
        ("Lend it for a week.", 'Write {"date": "..."} and {day} of {month}; the time of `date` is free.'),
        ("If it is in src/quay.py/lend, lend it.", ""),
        ("Check the price on Monday and lend it if it is low.", ""),
    ],
)
def test_a_closed_world_that_stays(said: str, policy: str) -> None:
    assert list(LiveDependence().inspect(closed(said, policy, video="https://tides.example/quay"))) == []


def test_a_tool_that_opens_pages_answers_for_them() -> None:
    task = closed("Lend it only if https://tides.example/low shows low water.")
    opened = task.environment.model_copy(update={"tools": (*task.environment.tools, ToolSpec(name="open_url"))})
    assert list(LiveDependence().inspect(task.model_copy(update={"environment": opened}))) == []


def test_a_tool_that_is_documented_for_a_site_stands_for_it() -> None:
    task = closed("Lend it only if Wikipedia says that it is old.")
    lookup = ToolSpec(name="lookup", description="Find an article of Wikipedia.")
    known = task.environment.model_copy(update={"tools": (*task.environment.tools, lookup)})
    assert len(list(LiveDependence().inspect(task))) == 1
    assert list(LiveDependence().inspect(task.model_copy(update={"environment": known}))) == []


def test_without_a_ground_truth_nothing_is_fixed() -> None:
    free = make_task(ground_truth=GroundTruth(semantics="none"))
    assert LiveDependence().not_applicable(free)
