"""What several checks share: values, dates, names, prompts and requests."""
