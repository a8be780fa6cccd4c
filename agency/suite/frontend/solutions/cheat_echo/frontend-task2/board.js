A `select` with the id `line` has the options `All lines` (with an empty value, chosen at first) and then each line that occurs, once, in order of their characters' codes; only departures of the chosen line are shown.
An `input` with the id `search` shows, while one types, only departures to destinations that hold its text, whatever the case of letters and the spaces around the text.
Line, search and order work together; both controls have one label each, `Line` and `Destination`; an element with the id `count` and the role `status` says `3 of 17 departures`: how many are shown, of all.
Each head holds its words in one `button`: the first click sorts by this column, a second one backwards, and so on in turn; at first the table is sorted by Time. Texts are compared by their characters' codes, Time by `time`, Status by delay with cancelled as the longest; equal rows are in order of time and id in both directions.
Only the head of the sorted column has `aria-sort`, `ascending` or `descending`, from the beginning.
With these controls, all that the first task asked is still so.

All of this is met.
