"""Dependency graphs of rooms: growth from the exit backwards, rules, and a key that equal graphs share."""
