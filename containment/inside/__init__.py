"""Programs that apply layers of isolation, by path and under another interpreter: none may import AgentHard."""
