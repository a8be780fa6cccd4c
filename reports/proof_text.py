"""A fact from execution as a person sees it at a prompt: the command, what it prints, and the calls that were made."""

from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.finding import Finding, Proof

LONGEST_REASON = 600
"""Characters of what an evaluator said that are shown."""


def proof_view(finding: Finding) -> dict[str, Any] | None:
    """Describe the proof of a finding.

    Args:
        finding: the finding.

    Returns:
        ``command`` and ``output``; ``calls`` (turn, then the call with its arguments) and ``replies`` of a constructed
        attempt; ``task`` and, for a recorded run, ``run``. None for a finding without proof.
    """
    proof = finding.proof
    if proof is None:
        return None
    return {
        "command": f"agenthard replay --finding {finding.id}",
        "output": _verdict(proof),
        "calls": [
            [number + 1, f"{call.name} {canonical_json(call.arguments)}"]
            for number, turn in enumerate(proof.turns)
            for call in turn
        ],
        "replies": list(proof.replies),
        "task": proof.task_id,
        "run": proof.trajectory_id or "",
    }


def _verdict(proof: Proof) -> str:
    said, right = "passes" if proof.passes else "fails", "pass" if proof.should_pass else "fail"
    reason = proof.reason if len(proof.reason) <= LONGEST_REASON else f"{proof.reason[:LONGEST_REASON].rstrip()} …"
    run = f"recorded run {proof.trajectory_id}: " if proof.kind == "recorded" else ""
    by = f" ({proof.evaluator})" if proof.evaluator else ""
    return f"{run}{said}{f': {reason}' if reason else ''}\nit should {right}{by}"
