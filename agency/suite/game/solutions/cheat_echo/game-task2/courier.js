`play(text, notation)` begins a game on the text of a level, makes the moves of a notation, and returns the last state; spaces and line breaks between moves do not count.
`play` throws an error with code `notation` for any other character, for a count that is 0, begins with 0 or has three digits, and for a count that no letter follows directly.
`write(letters)` gives the shortest notation of a text of letters, without spaces, a run of more than 99 beginning with as many moves of 99 as it holds; it throws an error with code `notation` for any other character.
`render(state)` draws the level as it is now, rows joined by line breaks without one at the end: the courier as `@`, or `X` in a lost and `W` in a won game, lit lanterns and the cell where the courier began as ice, and the exit as `e` while a lantern is left.
`undo(state)` returns the state before the last counted move, also after the end of a game, and an equal state where no move was counted; moves can be made again from there, and `undo` changes no state.
`score(state)` is 0 for a lost game, 5 for each lit lantern while playing, and for a won game 100, and 10 for each lantern, less 3 for each counted move, but at least 1.
`start` and `move` do what the first task asked, and the module exports them next to the five new functions.

All of this is met.
