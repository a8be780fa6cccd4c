"""Commands of the console script, one module per command or family."""
