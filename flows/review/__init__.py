"""Review by people: append-only events, what they add up to, and how they enter the decisions of an audit."""
