"""Batches: submit many requests in one file; the provider answers within a day, at a lower price.

`client` submits requests; `collect` puts answers into the reply cache and costs into the ledger. `service` is the
interface to a provider (`google_batches`, `openai_batches`), `wire` its file formats, `jobs` the state on disk.
"""
