"""Two audits, or two tables of scores, side by side: what is new, what is fixed, and which ranks moved."""
