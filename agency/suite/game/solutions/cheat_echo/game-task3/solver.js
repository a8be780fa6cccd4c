`solve(text)` gives the alphabetically first of the shortest ways to win a level, as a text of letters.
For a level that cannot be won, and not for others, `solve` and `par` give null, `count` gives 0, and `hint` of its first state gives null.
`par(text)` is the number of moves of a shortest way to win, and `count(text)` the number of different shortest ways.
`hint(state)` is the first letter of the alphabetically first of the shortest ways to win from a state, and null where there is none or the game has ended.

All of this is met.
