`occurrences(rule, first, last)` lists, in order, `(date, begin, end)` for each day of the rule from `first` to `last`, both included: dates are texts such as 2031-05-04, begin and end minutes as `slots.spans.parse` gives them; where `last` is before `first` the list is empty.
Days that follow `except` do not occur.
A ValueError is raised for any rule of another form (one space between words, N from 2 to 52 without leading zeros, days in order of the week and none twice, a span that `parse` reads, dates that exist, in the form YYYY-MM-DD, with commas between), and for a `first` or `last` that is not such a date.
`count(rule, first, last)` is the number of occurrences; 240 calls about years 1 to 9980 take less than 6 seconds of processor time together.

All of this is met.
