"""Language models: ask them through one client, with a cache, a ledger, budgets, rate limits and retries.

* Requests: `request` (requests, replies, protocols `Model` and `Provider`), `structured` (replies parsed as records).
* Asking: `client`, `providers` (translation for the SDKs), `batch` (through batches), `cassette` (recorded replies).
* Settings: `names`, `model_file`, `prices`, `limits`, `retry`, `budget`; estimates: `estimate`, `tokens`.
* Files on disk: `cache`, `ledger`, both in a `storage.Database`. `errors` lists everything that can fail.
"""
