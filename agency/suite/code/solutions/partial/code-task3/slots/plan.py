import heapq

from slots.recurrence import occurrences


def rooms(meetings):
    free, used, found = [], [], {}
    for name, begin, end in sorted(meetings, key=lambda each: (each[1], -each[2], each[0])):
        while used and used[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(used)[1])
        found[name] = heapq.heappop(free) if free else len(used) + 1
        heapq.heappush(used, (end, found[name]))
    return found


def busiest(meetings):
    changes = {}
    for _, begin, end in meetings:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    now, best, start = 0, None, None
    for minute in sorted(changes):
        if start is not None:
            best, start = (now, start, minute), None
        now += changes[minute]
        if start is None and now > (best[0] if best else 0):
            start = minute
    return best


def conflicts(rule, other, first, last):
    others = {day: span for day, *span in occurrences(other, first, last)}
    found = []
    for day, begin, end in occurrences(rule, first, last):
        if day in others:
            overlap = max(begin, others[day][0]), min(end, others[day][1])
            if overlap[0] < overlap[1]:
                found.append((day, *overlap))
    return found
