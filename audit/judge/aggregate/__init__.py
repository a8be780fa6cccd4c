"""From several verdicts on a task to one: votes, panels, error rates of judges, rebuttals, findings."""
