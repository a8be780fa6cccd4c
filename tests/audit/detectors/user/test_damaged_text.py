import pytest

from agenthard.audit.detectors.user import DamagedText
from agenthard.taxonomy import Message, Severity, UserSpec
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task


@pytest.mark.parametrize(
    "said",
    [
        "Step 1 - Clean\\nGoal: no files\\nThen stop.",
        "Das Caf\u00c3\u00a9 ist zu.",
        "The price is \ufffd5.",
        "Question: {input}",
        "Send it to <insert name> now.",
        "It should work now.Use this message.",
        "My token is 'abc',",
    ],
)
def test_damage(said: str) -> None:
    [hit] = DamagedText().inspect(open_task(said))
    assert hit.severity is Severity.COSMETIC


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Write `datasearch_one_1.json`, then check `search_one_1.json`.", "data/search_one_1.json"),
        ("Read `data/sample_1.json` and write `datacontext_brief.md`.", "data/context_brief.md"),
    ],
)
def test_lost_path_separators(said: str, meant: str) -> None:
    [hit] = DamagedText().inspect(open_task(said))
    assert hit.claim.endswith(meant) and hit.severity is Severity.MAY_AFFECT_SCORE


@pytest.mark.parametrize(
    "said",
    [
        'Print "a\\nb\\n" twice.',
        "Split at `\\n` and `\\n\\n`.",
        "Use Node.js with pyarrow.Tensor and com.example.MainClass.",
        "Call `/logs/{session_id}` for each {problem_id}.",
        "It works.\nUse it.",
        "Read `data/sample_1.json` and write `dataset_plan.json` and `database_notes.md`.",
        "A café at 5 °C.",
    ],
)
def test_sound_text(said: str) -> None:
    assert list(DamagedText().inspect(open_task(said))) == []


def test_variants_of_one_task_share_a_finding() -> None:
    hits = [next(iter(DamagedText().inspect(open_task("Well,", task_id=i, cluster="c")))) for i in ("a", "b")]
    assert hits[0].cause == hits[1].cause is not None


@pytest.mark.parametrize(
    ("said", "hits"),
    [
        ("Lend book 7 to ___.", 1),
        ("Lend book 7 to XXXX, please.", 1),
        ("Lend book 7 to {{ name }}.", 1),
        ("Lend book 7 to [TBA] at few:00.", 1),
        ("Keep book 7 for N weeks.", 1),
        ("Lend book 7 to Ada. Call it XXX.", 0),
        ("{'member': 'Bea', 'password': 'xxxxx', 'city': 'Rome'} Lend it.", 0),
        ("我的密码是xxxxx。 Lend it.", 0),
        ("My card number: XXXXX. Lend it.", 0),
        ("My password is xxxxx. Lend book 7 to ____.", 1),
        ("Write '___ has book 7', with the name filled in.", 0),
        ("Lend book __7__ to `{name}` at 9:00.", 0),
    ],
)
def test_a_blank_where_the_ground_truth_needs_a_value(said: str, hits: int) -> None:
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    found = list(DamagedText().inspect(make_task(user=user)))
    assert [hit.severity for hit in found] == [Severity.AFFECTS_SCORE] * hits
