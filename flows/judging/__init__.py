"""Judging: every question to every judge once, resumable, on the books, and concluded into a run folder."""
