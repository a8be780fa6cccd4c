"""The cascade: judges of the first tier see every task, those of the second only what needs a second opinion."""

from agenthard.audit.judge.aggregate.panel import PanelVerdict


def needs_second(panel: PanelVerdict) -> bool:
    """Tell whether judges of the second tier are asked.

    They are where the first tier flags the task, is uncertain or failed, and where it finds the task sound although one
    of its judges sees a flaw whose evidence stands. They are not where all agree that it is sound, nor where execution
    proved the flaw, which no opinion can undo.

    Args:
        panel: What the first tier says.
    """
    proved = any(issue.best.standing == "proved" for issue in panel.issues)
    return not proved and (panel.outcome != "not_flawed" or bool(panel.issues))
