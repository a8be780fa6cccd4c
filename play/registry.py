"""Names of agents without a model, such as ``solver+forgetting:0.1``: what every benchmark's registry shares."""

from agenthard.taxonomy.errors import AgentHardError


class UnknownAgentError(AgentHardError, ValueError):
    """No agent has this name; the message says which names there are."""

    code = "AH603"
    remedy = "Choose one of the names in the message."


def probability(name: str, text: str) -> float:
    """Reads the probability of a weakness.

    Args:
        name: Name of the agent, for the message.
        text: The number as it is written.

    Returns:
        A number from 0 to 1.

    Raises:
        UnknownAgentError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UnknownAgentError(f"agent {name!r}: {text!r} is not a probability; write a number from 0 to 1, like 0.1")
    return value
