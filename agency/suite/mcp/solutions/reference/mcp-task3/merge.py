import json
import sys

from desk.client import Desk
from retry import call

report = {"merged": [], "skipped": []}
kept = {}
with Desk(sys.argv[1:]) as desk:
    shelves = json.loads(call(desk, "list_shelves"))
    items, cursor = {}, ""
    while cursor is not None:
        page = json.loads(call(desk, "list_items", cursor=cursor))
        for name in page["items"]:
            items[name] = json.loads(call(desk, "read_item", item=name))
        cursor = page["next"]
    for name, item in sorted(items.items()):
        keep = kept.setdefault((" ".join(item["title"].lower().split()), item["maker"], item["year"]), name)
        if keep == name:
            continue
        goal, here = items[keep]["shelf"], item["shelf"]
        if goal != here and shelves[goal]["used"] >= shelves[goal]["capacity"]:
            report["skipped"].append([keep, name])
            continue
        for each in (keep, name):
            if items[each]["locked"]:
                call(desk, "set_lock", item=each, locked=False)
        if goal != here:
            call(desk, "move_item", item=name, shelf=goal)
        call(desk, "merge_items", keep=keep, drop=name)
        shelves[here]["used"] -= 1
        items[keep]["locked"] = items[keep]["locked"] or item["locked"]
        if items[keep]["locked"]:
            call(desk, "set_lock", item=keep, locked=True)
        report["merged"].append([keep, name])
print(json.dumps(report))
