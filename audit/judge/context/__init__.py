"""What a judge is shown: the records, policies, tools and runs that are relevant to one task, within a budget."""
