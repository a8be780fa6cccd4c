"""Members of a group that conflict: the same as comparing every pair, with far fewer comparisons."""

from itertools import combinations
from random import Random

from agenthard.audit.detectors.base import Observation
from agenthard.audit.detectors.support.conflicts import conflict, named
from agenthard.taxonomy.finding import Evidence


def member(number: int, gold: int) -> Observation:
    evidence = (Evidence(task_id=str(number), pointer="/ground_truth", quote="x"),)
    return Observation(task_id=str(number), key="k", value={"gold": gold}, evidence=evidence)


def far_apart(a: Observation, b: Observation) -> str | None:
    one, other = a.value["gold"], b.value["gold"]
    return f"{one} and {other}" if abs(one - other) > 1 or one == other == 5 else None


def test_the_same_members_and_the_same_first_pair_as_comparing_all() -> None:
    rng = Random(3)
    for _ in range(300):
        members = [member(i, rng.choice((0, 1, 2, 5))) for i in range(rng.randrange(2, 7))]
        pairs = [(a, b, why) for a, b in combinations(members, 2) if (why := far_apart(a, b))]
        found = conflict(members, far_apart, "gold")
        if found is None:
            assert pairs == []
            continue
        involved = {each.task_id for a, b, _ in pairs for each in (a, b)}
        assert (found.first, found.second, found.why) == pairs[0]
        assert [each.task_id for each in found.involved] == [m.task_id for m in members if m.task_id in involved]


def test_copies_are_compared_once() -> None:
    compared = list[tuple[str, str]]()

    def contradicts(a: Observation, b: Observation) -> str | None:
        compared.append((a.task_id, b.task_id))
        return far_apart(a, b)

    assert conflict([member(i, i % 2) for i in range(5_000)], contradicts, "gold") is None
    assert compared == [("0", "2"), ("0", "1"), ("1", "3")]


def test_a_claim_names_twenty_tasks() -> None:
    assert named([str(i) for i in range(20)]).endswith("18, 19")
    assert named([str(i) for i in range(2_021)]).endswith("18, 19 and 2,001 more")
