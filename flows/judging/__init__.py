"""Judging: put every question to every judge once, check the answers, and write them into a run folder.

Start with `run` (from the questions to the report); `batches` and `exchange` ask through providers' batches and through
files. `session` asks one question, `prompts` and `workers` write prompts and check verdicts, `panel` combines verdicts.
`inputs`, `settings` and `store` hold the audit, the settings and the answers; `forecast` estimates the cost; `publish`
writes the result.
"""
