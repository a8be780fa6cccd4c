"""Things in which others are, or behind which."""

from agenthard.escape.templates.declare import thing

CONTAINERS = (
    thing("safe", "container", "opens for a number", ["combo:B the number"], "drop:I what falls out"),
    thing("chest", "container", "opens for a text", ["word:T the text"], "drop:I what falls out"),
    thing("wall_panel", "container", "opens for a row of bytes", ["hex:H the bytes"], "drop:J what comes into sight"),
    thing("false_floor", "container", "opens for a text", ["word:T the text"], "drop:J what comes into sight"),
)
