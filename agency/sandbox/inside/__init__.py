"""Programs that run inside the layers of isolation, outside our package."""
