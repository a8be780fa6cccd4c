"""What an investigating judge can do: read-only tools over one task's material."""
