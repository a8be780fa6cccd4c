"""Scaffolds: what turns a model, a script or a program into an agent.

``scaffold`` has the protocol, ``rollout`` what an attempt leaves, ``budget`` what it may spend. ``native`` lets a model
call tools, ``openai_agents`` and ``claude`` do so with the loops of SDKs, ``json_plan`` lets it write files in one
reply, ``script`` carries out lists of calls, recorded ones too, ``command`` runs a program.
"""

from agenthard.agency.scaffolds.budget import Budget, Limits
from agenthard.agency.scaffolds.rollout import Rollout
from agenthard.agency.scaffolds.scaffold import Player, Prompt, Scaffold, scaffold_of

__all__ = ["Budget", "Limits", "Player", "Prompt", "Rollout", "Scaffold", "scaffold_of"]
