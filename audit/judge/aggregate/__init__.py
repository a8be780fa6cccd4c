"""Aggregate several verdicts on a task into one: votes, panels, error rates of judges, rebuttals, findings."""
