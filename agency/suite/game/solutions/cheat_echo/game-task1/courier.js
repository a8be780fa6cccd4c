`start` gives the state before any move: the courier on `@`, no lantern lit, `moves` 0, `status` playing; one line break at the end of the text does not count.
`start` throws an error with the first code that applies: `shape` (no row, an empty row, or rows of different length), `character` (one that README.md does not name), `courier` (not exactly one `@`), `exit` (not exactly one `E`); `move` throws one with code `direction` for anything but `D`, `L`, `R`, `U`.
A move slides the courier down, left, right or up, cell by cell, until the next cell is a wall or outside the level; the courier also stops on snow, in water, and on the exit when no lantern is left, and slides over the exit as over ice while one is.
Each lantern that the courier passes or stops on is lit at once; a game is lost in water, and won on the exit when no lantern is left.
Only a move that changes the courier's cell is counted; after the end of a game a move changes nothing.
`move` returns another state, and no state changes after it was returned.

All of this is met.
