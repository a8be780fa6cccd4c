POST /parcels/ID/pickup with `{"code": TEXT}` and the code of a stored parcel answers 200 with what GET /parcels/ID shows from then on: `state` is `collected`, `locker` stays; the locker is free again.
Any other text is answered 403 with `{"error": "code"}`; the third such for a parcel makes its `state` `blocked`: it stays in its locker, and to collect it, with any text, is answered 423 with `{"error": "blocked"}`.
To collect a parcel that does not exist is answered 404 with `unknown`, then a body without a text as `code` 400 with `invalid`, then a collected parcel 409 with `collected`, each as `error`; none of them counts as a wrong code, and other methods are answered 405 with `method`.
GET /parcels answers 200 with `total`, the number of all parcels that are asked for, and `parcels`, a list of them as GET /parcels/ID shows them, in order of their ids: `state` and `recipient` select by equality, `offset` (default 0) leaves out as many, `limit` (1 to 100, default 20) says how many there are at most.
A query with another name, a name twice, a `limit` or `offset` that is not digits only or not in its range, or a `state` other than `stored`, `collected`, `blocked` and `returned` is answered 400 with `{"error": "invalid"}`.
All that the first task asked is still so.

All of this is met.
