"""The LLM judge: prompts made from the taxonomy, verdicts whose quotes code finds again, and what is made of them."""
