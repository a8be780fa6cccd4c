"""Prefect flows, the command line and run folders: they connect the other packages and hold no audit rules."""
