import json
import sys

from desk.client import Desk
from retry import call

moved, homeless = 0, []
with Desk(sys.argv[1:]) as desk:
    rooms = dict(line.split(": ") for line in desk.read("store://rules").splitlines())
    shelves = json.loads(call(desk, "list_shelves"))
    items, cursor = {}, ""
    while cursor is not None:
        page = json.loads(call(desk, "list_items", cursor=cursor))
        for name in page["items"]:
            items[name] = json.loads(call(desk, "read_item", item=name))
        cursor = page["next"]
    for name, item in sorted(items.items()):
        old, room = shelves[item["shelf"]], rooms[item["material"]]
        if old["room"] == room:
            continue
        fit = [each for each in sorted(shelves) if shelves[each]["room"] == room]
        free = [each for each in fit if shelves[each]["used"] < shelves[each]["capacity"]]
        if not free:
            call(desk, "add_tag", item=name, tag="homeless")
            homeless.append(name)
            continue
        if item["locked"]:
            call(desk, "set_lock", item=name, locked=False)
        call(desk, "move_item", item=name, shelf=free[0])
        if item["locked"]:
            call(desk, "set_lock", item=name, locked=True)
        old["used"] -= 1
        shelves[free[0]]["used"] += 1
        moved += 1
print(json.dumps({"moved": moved, "homeless": homeless}))
