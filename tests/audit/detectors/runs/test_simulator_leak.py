from pathlib import Path

import pytest

from agenthard.audit.detectors.runs import SimulatorLeak
from agenthard.audit.detectors.support.simulator import leaks, spoken
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import Status
from agenthard.taxonomy.finding import Level
from tests.audit.detectors.runs.conversations import agent, audit, played, shop_task, user
from tests.builders import make_task

THOUGHT = "<think>\nThe user is Ann and wants a refund.\n</think>\n\nHello."


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (THOUGHT, ["thoughts"]),
        ("Hi.<think>It never ends", ["thoughts"]),
        ("<think>\n</think>\n\nHello.", []),
        ("The town is not mentioned in my instruction.", ["mention"]),
        ("Born on [Not provided in the instruction].", ["mention", "blank"]),
        ("Based on the instructions, I want to keep the lamp.", ["mention"]),
        ("As the user, I should stay terse.", ["mention"]),
        ("The script I'm following does not say so.", ["mention"]),
        ("As per the script, I agree.", ["mention"]),
        ("My prompt asks me to hurry.", ["mention"]),
        ("I was told not to reveal the number.", ["mention"]),
        ("I am just a user in this role-play.", ["mention"]),
        ("For this simulation I have no phone.", ["mention"]),
        ("My persona would not pay.", ["mention"]),
        ("The role description tells me to wait.", ["mention"]),
        ("I've been instructed not to agree.", ["mention"]),
        ("I was instructed to contact you; the task instructions are printed on the box.", []),
        ("I ran the script I was given by support.", []),
        ("My prompt reply helped; the role I am applying for is open.", []),
        ("I was told to call you, and I pretend it is a gift.", []),
        ("I'll follow the instructions in the e-mail.", []),
        ("Based on the instructions you sent, I printed it.", []),
        ("As a customer, I would expect more.", []),
        ("Born on [Your DOB], ticket [A7].", ["blank"]),
        ("See [your orders](https://shop.example).", []),
        ("Bye. ###STOP###", []),
        ("###TRANSFER###\nHello again.", []),
        ("I would say ###STOP### when it is done.", ["control_word"]),
        ("<think>Then I say ###STOP### at the end.</think> Please start.", ["thoughts", "control_word"]),
        ("<think>Then I say ###STOP### now.</think> Bye. ###STOP###", ["thoughts"]),
    ],
)
def test_what_a_turn_gives_away(text: str, kinds: list[str]) -> None:
    found = list(leaks(text))
    assert [leak.kind for leak in found] == kinds
    assert all(leak.quote in text for leak in found)
    assert len(spoken(text)) == len(text)


def test_one_finding_per_simulator_says_what_the_agent_saw_and_with_whom() -> None:
    runs = [
        played(user("Hi."), agent("Hello."), user(THOUGHT), agent("Yes?"), model="m1"),
        played(user("Hi."), agent("Hello."), user(THOUGHT), model="m1", trial=1),
        played(user("Hi."), agent("Hello."), model="m2"),
        played(user("Hi."), agent("Hello."), task_id="t2", model="m1", simulator="other"),
    ]
    (finding,), coverage = audit(SimulatorLeak(), [shop_task("t1"), shop_task("t2")], runs)
    assert finding.claim.startswith("The simulated user sim gives away its instruction or thoughts in 2 of 3 runs")
    assert "the agent saw it in 1 of them" in finding.claim
    assert "Agents: m1 (2 of 2 runs); none of the 1 others." in finding.claim
    assert (finding.task_ids, finding.also_in) == ((), ("t1",))
    assert (finding.measures["turns_affected"], finding.measures["turns"], finding.measures["thoughts"]) == (2, 5, 2)
    assert finding.evidence[0].pointer == "/messages/2/content"
    assert [row.status for row in coverage] == [Status.FLAGGED, Status.CLEAN]


def test_fixed_turns_and_silent_runs_are_not_checked() -> None:
    scripted = make_task("t2")
    _, coverage = audit(SimulatorLeak(), [shop_task("t1"), scripted], [played(agent("Hello."))])
    assert [row.status for row in coverage] == [Status.NOT_CHECKED, Status.NOT_CHECKED]


def test_a_habit_with_some_agents_and_never_with_others_is_a_conflict_of_labels() -> None:
    shown = [user("Hi."), agent("Hello."), user(THOUGHT), agent("Yes?")]
    runs = [played(*shown, model=model, trial=i) for model in ("m1", "m2") for i in range(10)]
    runs += [played(user("Hi."), agent("Hello."), model="m3", trial=i) for i in range(40)]
    (finding,), coverage = audit(SimulatorLeak(), [shop_task("t1")], runs)
    assert finding.level is Level.SUITE
    assert finding.claim == (
        "The logs disagree about the simulated user sim: it gives its thoughts away in its turns in 20 of 20 runs "
        "whose agent is m1, m2, and in none of 40 runs whose agent is m3. Runs of both kinds carry the same name, so "
        "a label is wrong, or the runs differ in something that the logs do not say."
    )
    assert (finding.task_ids, finding.also_in) == ((), ("t1",))
    assert finding.evidence[0].quote.startswith("<think>")


def test_what_happens_now_and_then_blames_the_simulator() -> None:
    said = [user("Hi."), agent("Hello."), user("My prompt says no."), agent("Yes?")]
    runs = [played(*said, model="m1", trial=0)]
    runs += [played(user("Hi."), agent("Hello."), model=model, trial=i) for model in ("m1", "m2") for i in range(1, 50)]
    (finding,), _ = audit(SimulatorLeak(), [shop_task("t1")], runs)
    assert finding.claim.startswith("The simulated user sim gives away")


@pytest.mark.corpora
def test_which_runs_of_tau2_leak_thoughts(corpora: Path) -> None:
    source = open_source("tau2", corpora / "tau2-bench_v0.1.3", ("retail",))
    tasks = list(source.tasks(Quarantine()))
    runs = list(source.runs(corpora / "trajectories" / "tau2_retail.jsonl.gz", Quarantine()))
    findings, _ = audit(SimulatorLeak(), tasks, runs)
    leaking = {run.model for run in runs for m in run.messages if m.role == "user" and "<think>\n" in m.content}
    (finding,) = (item for item in findings if item.level is Level.SUITE)
    assert finding.claim.startswith("The logs disagree about the simulated user")
    having = finding.claim.partition("whose agent is ")[2].partition(", and in none of ")[0]
    assert set(having.split(", ")) == leaking and len(leaking) == 2
    assert not any(name in item.claim for item in findings if item is not finding for name in leaking)
