"""Rooms are proved, differ from each other, and are the same however they are made."""

from collections import Counter
from pathlib import Path
from random import Random
from statistics import mean

import pytest

from agenthard.escape import generator
from agenthard.escape.generator import EscapeGenerator, Parameters, generate, jobs
from agenthard.escape.graph.distinct import first_graphs, further_graphs
from agenthard.escape.graph.growth import grow
from agenthard.escape.narrative.read import QUOTED
from agenthard.escape.proof import verify
from agenthard.escape.storage import SUITES, from_data, to_data
from agenthard.escape.templates.template import UnfillableError
from agenthard.flows.generators import write_lines
from agenthard.play.errors import GenerationError, ImpossibleParametersError
from tests.escape.made import SMALL, rooms

PAPER = {5: 9.03, 10: 18.20, 15: 27.73, 20: 36.63}


def test_every_room_is_proved_again_from_what_is_stored() -> None:
    for instance in rooms():
        report = verify(from_data(to_data(instance)))
        assert report.ok, report.problems
        assert report.certificate == instance.certificate
        assert instance.certificate and instance.certificate.min_calls == instance.facts()["min_calls"]


def test_the_fewest_calls_are_as_many_as_in_the_paper() -> None:
    for nodes, calls in PAPER.items():
        graphs = [grow(nodes, Random(f"{seed}/{nodes}")) for seed in range(300)]
        assert mean(graph.min_calls() for graph in graphs) == pytest.approx(calls, rel=0.05)
        assert not [problem for graph in graphs for problem in graph.problems()]


def test_no_two_rooms_have_one_graph_and_themes_are_balanced() -> None:
    keys = [graph.key() for job in jobs(Parameters()) for graph in job.graphs]
    assert len(set(keys)) == len(keys) == 4 * 270
    assert set(Counter(room.room.theme for room in rooms()).values()) == {3}


@pytest.mark.long
def test_workers_interruptions_and_starts_change_no_byte(tmp_path: Path) -> None:
    whole = [SUITES.layout.private.line(each) for each in rooms()]
    assert [SUITES.layout.private.line(each) for each in generate(SMALL, workers=2)] == whole
    escape = EscapeGenerator()
    torn = tmp_path / "torn"
    SUITES.write(torn, list(rooms())[:5], escape.asked(SMALL), count=SMALL.count)
    with (torn / "rooms.jsonl").open("ab") as file:
        file.write(b'{"id": "half')
    write_lines(escape, SMALL, torn)
    assert (torn / "secrets.jsonl").read_bytes().splitlines() == whole


def test_further_graphs_of_a_room_belong_to_no_other_room() -> None:
    first = [graph.key() for graphs in first_graphs(3, 8, 30) for graph in graphs]
    second = [graph.key() for number in range(30) for graph in further_graphs(3, 8, 30, number, 1)]
    third = [graph.key() for graph in further_graphs(3, 8, 30, 29, 2)]
    assert len({*first, *second, *third}) == 4 * 30 + 4 * 30 + 4


@pytest.mark.long
def test_a_room_whose_graphs_cannot_be_filled_gets_others_whoever_makes_it() -> None:
    suite = Parameters(sizes=(50,), rooms=(6,), seed=1)
    made = list(generate(suite))
    attempts = [room.provenance.attempts for room in made if room.provenance]
    assert max(attempts) > 4 * 12, "this suite has such a room"
    late = attempts.index(max(attempts))
    assert list(generate(suite, start=late, workers=2)) == made[late:]
    assert all(verify(room).ok for room in made)


def test_a_room_that_no_draw_fills_is_refused_with_its_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: object) -> None:
        raise UnfillableError("two outputs have one value")

    monkeypatch.setattr(generator, "fill_graph", never)
    with pytest.raises(GenerationError, match=r"room 0 of 5 parts: .*two outputs have one value \(384 times\)"):
        next(generate(Parameters(sizes=(5,), rooms=(1,))))


def test_the_public_part_holds_no_value_that_has_to_be_found() -> None:
    for instance in rooms():
        text = QUOTED.sub("", SUITES.layout.public.line(instance).decode())
        told = {clue.value for clue in instance.secret.clues}
        assert instance.secret.answer not in text and instance.secret.salt not in text
        for mechanism in instance.secret.mechanisms.values():
            assert not told & set(mechanism.outputs.values())
            assert not any(len(value) > 6 and value in text for value in mechanism.outputs.values())


@pytest.mark.parametrize(
    "asked", [{"sizes": (1,)}, {"sizes": (5, 5)}, {"sizes": (5, 10), "rooms": (1, 2, 3)}, {"rooms": (0,)}]
)
def test_impossible_suites_are_refused(asked: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ImpossibleParametersError):
        Parameters(**asked)  # type: ignore[arg-type]


def test_a_suite_of_another_size_or_seed_has_other_rooms() -> None:
    one, other = (next(generate(Parameters(sizes=(6,), rooms=(1,), seed=seed))) for seed in (1, 2))
    assert one.room.nodes == 6 and one.secret.answer != other.secret.answer
