"""The web application in which people review: pages, access, live updates."""
