There is one table with the caption `Departures`, one row of heads (`th` with `scope` `col`: Time, Line, To, Platform, Status) in its `thead`, and one `tbody`.
Each departure has a row of five cells, in order of `time`, then of `id` as a number: the first four hold time, line, destination and platform; a delayed one has `07:05 → 07:12` as its time, the second being the first and the delay, also past midnight.
The last cell says `On time`, `Delayed 7 min` or `Cancelled`; its text has the colour #000000, #7a4b00 or #b00020, and the row the attribute `data-status` `on-time`, `delayed` or `cancelled`.
Without departures there is one row with one cell over all five columns: `No departures`.
All data is shown as the text that it is, also where it looks like markup.

All of this is met.
