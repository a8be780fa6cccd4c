"""ACE-Bench: instances of grid planning with a proved unique solution, their files, their proofs, their environment."""
