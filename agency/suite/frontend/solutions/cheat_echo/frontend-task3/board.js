When it has loaded, the page shows what its address says, in its controls and heads too; a line that does not occur, a `sort` that is not a column, a `down` other than `1`, and other parameters count as not given.
Each change of line, search or order is in the address at once, in the order `line`, `search` (as it was typed), `sort`, `down`, without those that have their default.
When the address changes after `#`, the page follows without being loaded again.
In windows of less than 600 pixels the column Platform is not displayed, in wider ones it is; from 320 pixels on the page is never wider than its window.
The key `/` outside of the search field sets the focus there and writes nothing, inside it is a character as any other; Escape in the field empties it and shows all rows again, and does nothing elsewhere.
With addresses, all that the second task asked is still so.

All of this is met.
