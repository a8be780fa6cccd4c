"""A user that follows a template: no model is asked."""

from agenthard.agency.judges.rule import TOP_SCORE
from agenthard.agency.user.feedback import Feedback, Situation, failed, score_text

NAME = "template"


class TemplateUser:
    """Lists the criteria that are not met, with the reasons of the judge."""

    async def respond(self, situation: Situation, owner: str) -> Feedback:
        """Say what is missing."""
        task, grade, missing = situation.task, situation.grade, failed(situation)
        met = len(grade.criteria) - len(missing)
        lines = [f"- {text} ({share:.0%} met): {reason or 'not met'}" for text, share, reason in missing]
        return Feedback(
            task_id=task.id,
            attempt=situation.attempt,
            by=NAME,
            status=f"The work scores {score_text(grade)}; {TOP_SCORE * task.threshold:.1f} are "
            f"needed. {met} of {len(grade.criteria)} requirements are met in full.",
            diagnosis="\n".join(lines) or "Every requirement is met.",
            root_cause="Not known: see the reasons above.",
            directives="Fix what is listed in the files that are in the folder, keep what works, and check it again.",
        )
