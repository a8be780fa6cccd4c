"""What the sources of τ-bench and τ²-bench share: run logs, conversations, and reading Python without running it."""
