import json
import sys

from desk.client import Desk
from retry import call

with Desk(sys.argv[1:]) as desk:
    shelves = {shelf: [] for shelf in json.loads(call(desk, "list_shelves"))}
    items, cursor = {}, ""
    while cursor is not None:
        page = json.loads(call(desk, "list_items", cursor=cursor))
        for item in page["items"]:
            items[item] = json.loads(call(desk, "read_item", item=item))
        cursor = page["next"]

materials = {}
for item in sorted(items):
    shelves[items[item]["shelf"]].append(item)
    material = items[item]["material"]
    materials[material] = materials.get(material, 0) + 1
oldest = min(sorted(items), key=lambda item: items[item]["year"], default=None)
print(json.dumps({"shelves": shelves, "materials": materials, "oldest": oldest}))
