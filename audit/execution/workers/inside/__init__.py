"""Programs that run inside a sandbox, by path and under another interpreter: none of them may import AgentHard."""
