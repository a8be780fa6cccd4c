"""Prefect flows, the command line and run folders: wires everything, decides nothing."""
