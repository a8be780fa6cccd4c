In order of their ids, each item that lies in a wrong room is moved to the first shelf, in order of names, of the right room that has a free place at that time; other items stay where they are.
An item for which no place exists stays and gets the tag `homeless`; no other tags change, and all items are locked or not as they were.
Each item is moved at most once, only locked items that are moved are unlocked and locked again, once each, and no other call changes anything.
The program prints a JSON object with `moved`, the number of moved items, and `homeless`, the sorted ids of those without a place.

All of this is met.
