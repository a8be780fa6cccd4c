In order of ids, each item that equals one with a lower id is merged into the one with the lowest id, on the shelf of that one; where it lies on another shelf and that shelf has no free place at that time, it stays as it is.
An item into which others were merged has all their tags, and is locked if it or one of them was; all else is as it was.
A call that is refused with a text that holds `busy` is made again at once, until it is not.
The program prints a JSON object with `merged` and `skipped`, lists of `[id that is kept, id of the other]` in the order in which it came to them.

All of this is met.
