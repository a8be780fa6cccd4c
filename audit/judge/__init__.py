"""The LLM judge: prompts made from the taxonomy, verdicts whose quotes are verified by code, and their aggregation."""
