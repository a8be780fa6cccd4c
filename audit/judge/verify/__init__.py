"""What is checked in a verdict: its quotes, values, calls and scores."""
