"""Every table and figure of the audit paper from finished audits, next to what the paper published."""
