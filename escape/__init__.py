"""AgentEscapeBench: escape rooms whose tools are real functions, with one deterministic answer."""
