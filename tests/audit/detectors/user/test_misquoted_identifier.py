import pytest

from agenthard.audit.detectors.user import MisquotedIdentifier
from agenthard.audit.evidence import failure
from agenthard.audit.time_limit import cpu_limit
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, Severity, ToolCall, UserSpec
from tests.builders import make_task

ENVIRONMENT = EnvironmentSpec(
    state={"members": {"ada_l_1815": {"mail": "ada.l1815@example.org"}}, "loans": ["LN88231", "XK10001", "XK10002"]}
)


def task(said: str, *calls: ToolCall) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=ENVIRONMENT,
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls,), call_matching="state"),
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [("adal1815@example.org", "ada.l1815@example.org"), ("LN88232", "LN88231")],
)
def test_almost_an_identifier_of_the_database(said: str, meant: str) -> None:
    subject = task(f"I am {said}.")
    [hit] = MisquotedIdentifier().inspect(subject)
    assert hit.evidence[0].quote == said and repr(meant) in hit.claim and hit.severity is None
    assert failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize("said", ["LN882231", "NL88231", "LM88231", "LN888231", "N88231x"])
def test_one_slip_of_any_kind(said: str) -> None:
    hits = list(MisquotedIdentifier().inspect(task(f"It is {said}.")))
    assert len(hits) == (said != "N88231x"), "two slips are another identifier"


def test_many_identifiers_take_time_in_proportion() -> None:
    known = {f"K{i:06}A": {} for i in range(20_000)}
    words = " ".join(f"value_{i}x" for i in range(100, 60_000))
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=words),),))
    subject = make_task(user=user, environment=EnvironmentSpec(state=known), initial_state={"notes": words})
    with cpu_limit(10):
        assert list(MisquotedIdentifier().inspect(subject)) == []


@pytest.mark.parametrize(
    "said",
    [
        "I am ADA.L1815@example.org, loan LN88231.",
        "It is LN88232, no, LN88231.",
        "My new address is countess@example.com.",
        "It is XK10003.",
        "On 2024-05-15 at 10001.",
    ],
)
def test_right_corrected_new_or_undecided_ones_are_clean(said: str) -> None:
    assert list(MisquotedIdentifier().inspect(task(said))) == []


def test_one_that_the_gold_tries_is_cosmetic() -> None:
    [hit] = MisquotedIdentifier().inspect(task("Loan LN88232.", ToolCall(name="find", arguments={"loan": "LN88232"})))
    assert hit.severity is Severity.COSMETIC
    assert MisquotedIdentifier().not_applicable(make_task()) == "no shared state is part of the files"
