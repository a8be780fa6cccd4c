POST /days with `{"days": N}` lets N days pass and answers 200 with `{"day": D}`, the days since the beginning; a parcel that is stored or blocked 7 days or more after the day on which it was stored becomes `returned`, and its locker is free again.
N is an integer of at least 1, else the answer is 400 with `invalid`; to collect a returned parcel is answered 410 with `returned` (404 and 400 come before), and other methods on /days and /events 405 with `method`.
After the service was killed (SIGKILL) and started again with the same arguments, every later answer is the same as if it had run on.
POST /parcels with a header `Idempotency-Key` that was sent before with an equal JSON body and was answered 201 gives the same answer and stores nothing; with another body it is answered 422 with `key` as `error`; a request that stored nothing leaves its key free.
GET /events answers 200 with the list of all that happened, in order, parcels that return on one day in order of their ids: each with `event` (`stored`, `collected`, `blocked` or `returned`), `parcel` (its id) and `day`.
All that the tasks before asked is still so.

All of this is met.
