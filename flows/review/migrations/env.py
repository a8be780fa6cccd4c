"""Alembic runs this file: it upgrades through the connection that `agenthard.flows.review.store` opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="review_version")
context.run_migrations()
