"""Reads what an audit found and shows it: tables, SARIF, pages."""
