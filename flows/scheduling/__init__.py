"""Audits on a schedule: what changed is checked, the difference is told, a new split waits for approval."""
