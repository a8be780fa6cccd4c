import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl

SIZES = "SML"
LOCKERS = json.load(open(sys.argv[3]))
STATE = {"parcels": []}
HELD = ("stored", "blocked")


class Refused(Exception):
    pass


def refuse(status, word):
    raise Refused(status, {"error": word})


def shown(parcel):
    return {name: parcel[name] for name in ("id", "recipient", "size", "locker", "state")}


def inside(locker):
    for parcel in STATE["parcels"]:
        if parcel["locker"] == locker["id"] and parcel["state"] in HELD:
            return parcel["id"]


def code_of(parcel):
    return hashlib.sha256(f"{parcel['id']}:{parcel['recipient']}".encode()).hexdigest()[:6]


def store(request):
    recipient, size = request.body.get("recipient"), request.body.get("size")
    if type(recipient) is not str or not recipient.strip() or size not in list(SIZES):
        refuse(400, "invalid")
    for wanted in SIZES[SIZES.index(size) :]:
        for locker in LOCKERS:
            if locker["size"] == wanted and inside(locker) is None:
                parcel = {"id": len(STATE["parcels"]) + 1, "recipient": recipient, "size": size}
                parcel |= {"locker": locker["id"], "state": "stored", "wrong": 0}
                STATE["parcels"].append(parcel)
                return 201, {"id": parcel["id"], "locker": locker["id"], "code": code_of(parcel)}
    refuse(409, "full")


def find(number):
    for parcel in STATE["parcels"]:
        if parcel["id"] == int(number):
            return parcel
    refuse(404, "unknown")


def show(request, number):
    return 200, shown(find(number))


def lockers(request):
    return 200, [{**locker, "parcel": inside(locker)} for locker in LOCKERS]


def pick_up(request, number):
    parcel, code = find(number), request.body.get("code")
    if type(code) is not str:
        refuse(400, "invalid")
    if parcel["state"] == "collected":
        refuse(409, "collected")
    if parcel["state"] == "blocked":
        refuse(423, "blocked")
    if code == code_of(parcel):
        parcel["state"] = "collected"
        return 200, shown(parcel)
    parcel["wrong"] += 1
    if parcel["wrong"] == 3:
        parcel["state"] = "blocked"
    refuse(403, "code")


def listed(request):
    asked = parse_qsl(request.path.partition("?")[2], keep_blank_values=True)
    options = dict(asked)
    state, recipient = options.pop("state", None), options.pop("recipient", None)
    limit, offset = options.pop("limit", "20"), options.pop("offset", "0")
    if options or len(asked) != len({name for name, _ in asked}):
        refuse(400, "invalid")
    if not re.fullmatch("[0-9]+ [0-9]+", f"{limit} {offset}") or not 1 <= int(limit) <= 100:
        refuse(400, "invalid")
    if state not in (None, "stored", "collected", "blocked", "returned"):
        refuse(400, "invalid")
    found = [shown(each) for each in STATE["parcels"] if state in (None, each["state"])]
    found = [each for each in found if recipient in (None, each["recipient"])]
    return 200, {"total": len(found), "parcels": found[int(offset) :][: int(limit)]}


ROUTES = {
    "/parcels": {"POST": store, "GET": listed},
    "/parcels/([0-9]+)": {"GET": show},
    "/parcels/([0-9]+)/pickup": {"POST": pick_up},
    "/lockers": {"GET": lockers},
}


def answer(request):
    for path, methods in ROUTES.items():
        match = re.fullmatch(path, request.path.partition("?")[0])
        if match and request.command not in methods:
            refuse(405, "method")
        if match:
            return methods[request.command](request, *match.groups())
    refuse(404, "unknown")


class Handler(BaseHTTPRequestHandler):
    def respond(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            self.body = json.loads(text)
        except ValueError:
            self.body = {}
        if type(self.body) is not dict:
            self.body = {}
        try:
            status, document = answer(self)
        except Refused as refused:
            status, document = refused.args
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = respond


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
