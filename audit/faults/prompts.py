"""Incorrect system prompts: a policy that says something false about the environment, or contradicts itself."""

from random import Random

from audit.faults.editing import sites, with_environment
from audit.faults.operator import Fault, Sound, operator
from taxonomy.task import AgentTask

_CATEGORY = "incorrect-system-prompt"


def _with_sentence(task: AgentTask, sentence: str) -> AgentTask:
    policy = task.environment.policy
    return with_environment(task, policy=f"{policy.rstrip()}\n\n{sentence}\n" if policy else sentence)


def _fault(task: AgentTask, sentence: str, says: str) -> Fault:
    return Fault(task=_with_sentence(task, sentence), pointer="/environment/policy", after=sentence, says=says)


@operator(_CATEGORY, "rules", "the prompt names it, and the list of tools does not have it", rule_known=True)
def prompt_names_absent_tool(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to use a tool that does not exist."""
    for site in sites(sound.task, rng):
        name = f"{rng.choice(('verify', 'refresh', 'confirm', 'audit'))}_{site.tool.name.rpartition('.')[2]}"
        if sound.task.tool(name) is None:
            wording = rng.choice(
                (
                    "Before you finish, use the `{}` tool.",
                    "Always call {}() once at the end.",
                    "Results of `{}` are binding for everything you do.",
                    "The function `{}` tells you whether you may go on.",
                    "After each change the agent must run the {} tool.",
                )
            )
            return _fault(sound.task, wording.format(name), f"there is no tool {name}")
    return None


@operator(_CATEGORY, "rules", "the prompt names it, and the tool's schema does not have it", rule_known=True)
def prompt_names_absent_parameter(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to give a parameter that the tool does not take."""
    for site in sites(sound.task, rng):
        name = rng.choice(("reason", "confirmed", "requested_by", "dry_run"))
        if name not in site.properties:
            wording = rng.choice(
                ("Always pass `{p}` to `{t}`.", "Call {t}({p}=\"yes\") once the user agrees.",
                 "The parameter `{p}` of the `{t}` tool must never be empty.")
            )  # fmt: skip
            sentence = wording.format(p=name, t=site.tool.name)
            return _fault(sound.task, sentence, f"{site.tool.name} has no parameter {name}")
    return None


@operator(_CATEGORY, "rules", "the prompt names choices that the schema excludes", rule_known=True)
def prompt_names_absent_choice(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent to give a value that is none of the documented choices."""
    for site in sites(sound.task, rng):
        for name, schema in site.properties.items():
            wrong = rng.choice(("premium", "overnight", "basic"))
            if "enum" in schema and wrong not in schema["enum"]:
                sentence = f'When in doubt, call {site.tool.name}({name}="{wrong}").'
                return _fault(sound.task, sentence, f"{wrong!r} is none of the values that {name} takes")
    return None


@operator(_CATEGORY, "rules", "the example does not parse", rule_known=True)
def prompt_example_does_not_parse(sound: Sound, rng: Random) -> Fault | None:
    """Show the agent an example that is no Python, or no JSON."""
    for site in sites(sound.task, rng):
        names = list(site.call.arguments)
        if names:
            call = f"{site.tool.name.replace('.', '_')}({names[0]}="
            broken = rng.choice(
                (
                    f"```python\nresult = {call}1\nprint(result)\n```",
                    f"```python\nif ready\n    {call}1)\n```",
                    f'```json\n{{"name": "{site.tool.name}", "arguments": {{"{names[0]}": }}}}\n```',
                )
            )
            return _fault(sound.task, f"Example of a call:\n\n{broken}", "the example does not parse")
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
    return _fault(sound.task, pair, "two rules of the policy contradict each other")
