"""What cleaning does to a leaderboard: stages, splits, leaderboards and ranking stability, each beside its null."""
