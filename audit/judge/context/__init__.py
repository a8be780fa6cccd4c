"""What a judge is shown: the records, policies, tools and runs that matter for one task, within a budget."""
