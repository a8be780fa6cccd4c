"""Model access: one interface over providers, with cache, limits, retries, costs and cassettes."""
