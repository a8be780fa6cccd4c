POST /parcels with `{"recipient": TEXT, "size": SIZE}` stores a parcel in a free locker of the smallest size that fits, the first such in LOCKERS, and answers 201 with its `id` (1, 2, 3 …), its `locker` and its `code` (the first six hexadecimal digits of the SHA-256 of `ID:RECIPIENT` in UTF-8).
Where no free locker fits, it answers 409 with `{"error": "full"}`.
A body that is not a JSON object, a recipient that is not text or a blank one, and any other size are answered 400 with `{"error": "invalid"}`; members that are not named here are ignored.
GET /parcels/ID answers 200 with `id`, `recipient` (as it was sent), `size`, `locker` and `state` (`stored`), and 404 with `{"error": "unknown"}` where no such parcel exists; leading zeros of ID do not count.
GET /lockers answers 200 with the list of LOCKERS in its order, each with `id`, `size` and `parcel`: the id of the parcel in it, or null.
Any other path is answered 404 with `{"error": "unknown"}` (an ID is digits only), and GET, POST, PUT, DELETE or PATCH on a path that does not have it 405 with `{"error": "method"}`; GET /parcels is left open for now.

All of this is met.
