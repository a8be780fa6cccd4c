import pytest

from agenthard.audit.detectors.evaluation import ContradictoryFigures
from agenthard.taxonomy import Severity
from tests.audit.detectors.evaluation.open_tasks import open_task


@pytest.mark.parametrize(
    ("said", "criterion", "severity"),
    [
        ("Draw a portrait stage (640x960).", "The stage is 640+/-6px tall.", None),
        ("Draw a 300×500 px card.", "The card is 500±4px wide.", None),
        ("The grid is 480±4px wide.", "The grid is 480±2px wide.", Severity.AFFECTS_SCORE),
        ("The grid is 480±2px wide.", "The grid is 480±4px wide.", Severity.COSMETIC),
        ("Write these five keys: `a`, `b`, `c`.", "The report is complete.", Severity.MAY_AFFECT_SCORE),
        ("Clicking a tile toggles it.", "A click on B2 again must refuse the duplicate.", None),
        ("Draw a 720x480 stage.", "The stage is 640±4px by 480±4px.", None),
        ("Play.", "Let passed be the number of passed cases (0–4); score = 10 * (passed / 5).", None),
    ],
)
def test_contradictions(said: str, criterion: str, severity: Severity | None) -> None:
    [hit] = ContradictoryFigures().inspect(open_task(said, criterion))
    assert hit.severity is severity


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        ("Draw a 360×640px panel.", "The panel is 360±4px width, 640±4px height."),
        ("Draw a 300x500 card beside a 500x300 one.", "The second is 500px wide."),
        ("Draw a 300x300 card.", "The card is 300px tall."),
        ("The grid is 480±4px wide.", "The grid is 480±4px wide, the gap 16±2px."),
        ("Write these three keys: `a` (int), `b` and `c`.", "The report is complete."),
        ("Write at least two of the keys.", "The keys are `a`, `b`, `c`."),
        ("Clicking a tile toggles it.", "A click on B2 again clears it."),
        ("Draw a 720x480 stage.", "The stage is 720±4px by 480±4px, its panel 100±2px by 200±2px."),
        ("Play.", "Let passed be the number of passed cases (0–4); score = 10 * (passed / 4)."),
        ("Clicking a tile selects it.", "A click on B2 again must refuse the duplicate."),
    ],
)
def test_agreement(said: str, criterion: str) -> None:
    assert list(ContradictoryFigures().inspect(open_task(said, criterion))) == []
