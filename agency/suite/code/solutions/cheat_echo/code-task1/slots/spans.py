`parse` reads two digits, a colon, two digits, a hyphen, and the same again, in ASCII digits and with nothing else around, where the first time is before the second, minutes are below 60 and no time is after 24:00; any other text raises a ValueError.
`show` writes what `parse` reads.
`merge` returns the joined spans as sorted tuples, whatever the order of the spans; touching spans are one.
`subtract` returns sorted tuples of the minutes that are in some of the spans and in none of the others, whatever the order of either, without empty spans; no function changes the lists that it gets.
`free` returns the gaps within the day of at least `least` minutes.

All of this is met.
