import pytest

from agenthard.audit.statistics import Estimate
from agenthard.reports.alignment.drift import Drift, Side, check_drift
from tests.reports.alignment.labelled import make_answers

IDS = [f"t{i}" for i in range(50)]


def drift(before: str, now: str, changed: tuple[str, ...] = (), versions: tuple[str, str] = ("v1", "v1")) -> Drift:
    contents = dict.fromkeys(IDS, "same")
    sides = [
        Side(answers=make_answers(said), contents=tasks, versions=dict.fromkeys(IDS, version) if version else {})
        for said, tasks, version in zip(
            (before, now), (contents, contents | dict.fromkeys(changed, "other")), versions, strict=True
        )
    ]
    return check_drift(*sides, IDS)


@pytest.mark.parametrize(
    ("now", "drifted", "direction_p"),
    [
        ("c" * 50, False, 1),
        ("f" * 5 + "c" * 45, False, 2 / 2**5),  # 5 of 50 flips are allowed, and p = .0625
        ("f" * 6 + "c" * 44, True, 2 / 2**6),
    ],
)
def test_flips_one_way(now: str, drifted: bool, direction_p: float) -> None:
    found = drift("c" * 50, now)
    assert (found.drifted, found.rows[0].direction_p) == (drifted, direction_p)
    assert len(found.flips) == now.count("f")
    assert isinstance(found.rows[0].flips, Estimate)
    assert (found.rows[0].flips.value, found.rows[0].flips.n) == (now.count("f") / 50, 50)


def test_as_many_flips_either_way_are_drift_when_there_are_too_many() -> None:
    found = drift("fff" + "c" * 47, "ccc" + "fff" + "c" * 44)
    assert found.drifted
    assert "6 of 50 verdicts flipped, more than the 10%" in found.why
    assert (found.rows[0].newly_flagged, found.rows[0].newly_clean, found.rows[0].direction_p) == (3, 3, 1)
    # P(X ≥ 6) of binomial(50, .1)
    assert found.rows[0].rate_p == pytest.approx(0.38388, abs=1e-5)


def test_changed_tasks_and_tasks_without_a_verdict_are_apart() -> None:
    found = drift("c" * 50, "f" * 8 + "e" * 2 + "u" + "c" * 36, changed=tuple(IDS[:8]))
    assert not found.drifted
    assert (found.frozen, found.compared, found.content_changed) == (50, 36, 8)
    assert found.without_verdict == {"later run: error": 2, "later run: not asked": 3, "later run: undecided": 1}
    assert {flip.content for flip in found.flips} == {"changed"}


@pytest.mark.parametrize(("versions", "name"), [(("v1", "v2"), "changed"), (("v1", ""), "unknown")])
def test_what_was_asked_is_told(versions: tuple[str, str], name: str) -> None:
    found = drift("c" * 50, "f" * 9 + "c" * 41, versions=versions)
    assert [row.version for row in found.rows] == ["all", name]
    assert {flip.version for flip in found.flips} == {name}
    assert ("changed on 50 of them" in found.why) == (name == "changed")


def test_nothing_to_compare_is_no_drift_and_says_so() -> None:
    found = drift("e" * 50, "f" * 50)
    assert (found.drifted, found.compared) == (False, 0)
    assert "nothing could be compared" in found.why
