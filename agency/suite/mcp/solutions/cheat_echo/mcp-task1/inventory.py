The program prints a JSON object in which `shelves` has, for every shelf, the sorted list of the ids of the items on it.
`materials` has the number of items of each material that occurs; the object has no members but `shelves`, `materials` and `oldest`.
`oldest` is the id of the item of the earliest year, of several the first in order of their ids, or null in an empty store.
The program reads every item, makes no call twice, and changes nothing.

All of this is met.
