"""Incorrect system prompts: a policy that says something false about the environment, or contradicts itself."""

import re
from random import Random

from agenthard.audit.faults.editing import sites, with_environment
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.wordings import draw_wording, placed, wordings
from agenthard.taxonomy.task import AgentTask

_CATEGORY = "incorrect-system-prompt"


def _with_sentence(task: AgentTask, sentence: str, rng: Random) -> AgentTask:
    return with_environment(task, policy=placed(task.environment.policy, sentence, rng))


def _fault(task: AgentTask, sentence: str, claim: str, rng: Random) -> Fault:
    return Fault(task=_with_sentence(task, sentence, rng), pointer="/environment/policy", after=sentence, claim=claim)


@operator(_CATEGORY, "rules", "the prompt names it, and the list of tools does not have it", rule_known=True)
def prompt_names_absent_tool(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to use a tool that does not exist."""
    for site in sites(sound.task, rng):
        name = _invented(site.tool.name.rpartition(".")[2], rng)
        if sound.task.tool(name) is None:
            sentence = draw_wording("prompt-names-absent-tool", rng, tool=name)
            return _fault(sound.task, sentence, f"the tool {name} does not exist", rng)
    return None


def _invented(name: str, rng: Random) -> str:
    verb = rng.choice(("verify", "refresh", "confirm", "audit", "pre_check", "validate"))
    camel = re.sub(r"_(\w)", lambda letter: letter[1].upper(), f"{verb}_{name}")
    return rng.choice((f"{verb}_{name}", camel, f"{name}_v2", f"{name}_bulk"))


@operator(_CATEGORY, "rules", "the prompt names it, and the tool's schema does not have it", rule_known=True)
def prompt_names_absent_parameter(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to give a parameter that the tool does not take."""
    for site in sites(sound.task, rng):
        name = rng.choice(wordings("absent-parameters"))
        if name not in site.properties:
            sentence = draw_wording("prompt-names-absent-parameter", rng, name=name, tool=site.tool.name)
            return _fault(sound.task, sentence, f"{site.tool.name} has no parameter {name}", rng)
    return None


@operator(_CATEGORY, "rules", "the prompt names choices that the schema excludes", rule_known=True)
def prompt_names_absent_choice(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to give a value that is none of the documented choices."""
    for site in sites(sound.task, rng):
        for name, schema in site.properties.items():
            wrong = rng.choice(wordings("absent-choices"))
            if "enum" in schema and wrong not in schema["enum"]:
                sentence = draw_wording("prompt-names-absent-choice", rng, tool=site.tool.name, name=name, word=wrong)
                return _fault(sound.task, sentence, f"{wrong!r} is none of the values that {name} takes", rng)
    return None


@operator(_CATEGORY, "rules", "the example does not parse", rule_known=True)
def prompt_example_does_not_parse(sound: Sound, rng: Random) -> Fault | None:
    """Show the agent an example that is not valid Python or JSON."""
    for site in sites(sound.task, rng):
        names = list(site.call.arguments)
        if names:
            tool, first = site.tool.name, names[0]
            broken = draw_wording(
                "prompt-example-does-not-parse", rng, tool=tool, python=tool.replace(".", "_"), name=first
            )
            intro = rng.choice(("Example of a call:\n\n", "", "# Format\n", "Call tools like this:\n"))
            return _fault(sound.task, intro + broken, "the example does not parse", rng)
    return None


@operator(_CATEGORY, "judge", "that two sentences contradict each other needs reading", rule_known=False)
def prompt_contradicts_itself(sound: Sound, rng: Random) -> Fault | None:
    """Add two rules to the policy that cannot both be kept."""
    pair = rng.choice(
        (
            "Ask the user to confirm before every change. Never ask the user for confirmation.",
            "Make one call at a time. Make all calls of a request at once, in a single message.",
            "Tell the user the result of every change. Do not mention changes to the user.",
        )
    )
    return _fault(sound.task, pair, "two rules of the policy contradict each other", rng)
