"""``python -m agenthard``: the command line."""

from agenthard.flows.cli import main

if __name__ == "__main__":
    main()
