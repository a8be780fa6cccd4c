"""Other calls that come to the same."""

from agenthard.taxonomy.task import AgentTask, ToolCall


def copied_and_removed(task: AgentTask, call: ToolCall) -> tuple[ToolCall, ...]:
    """Return a copy and a removal in place of a move, for file tools named and called as on Unix; else nothing.

    Whether they come to the same has to be tried: a removal may refuse what a move accepts.
    """
    copy, remove = task.tool("cp"), task.tool("rm")
    if call.name != "mv" or set(call.arguments) != {"source", "destination"} or copy is None or remove is None:
        return ()
    taken = list(remove.parameters.get("properties", {}))
    if set(copy.parameters.get("properties", {})) != {"source", "destination"} or len(taken) != 1:
        return ()
    return (
        ToolCall(name="cp", arguments=dict(call.arguments)),
        ToolCall(name="rm", arguments={taken[0]: call.arguments["source"]}),
    )
