"""ACE-Bench: instances of grid planning with a proved unique solution, their files, their proofs, their environment.

``generate(Parameters(...))`` yields proved instances, ``verify(instance)`` proves one again.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenthard.ace.generator import Parameters, generate
    from agenthard.ace.proof.verify import verify

__all__ = ["Parameters", "generate", "verify"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in ("Parameters", "generate"):
        from agenthard.ace import generator

        return getattr(generator, name)
    if name == "verify":
        from agenthard.ace.proof.verify import verify

        return verify
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
