import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

SIZES = "SML"
LOCKERS = json.load(open(sys.argv[3]))
STATE = {"parcels": []}


class Refused(Exception):
    pass


def refuse(status, word):
    raise Refused(status, {"error": word})


def shown(parcel):
    return {name: parcel[name] for name in ("id", "recipient", "size", "locker", "state")}


def inside(locker):
    for parcel in STATE["parcels"]:
        if parcel["locker"] == locker["id"] and parcel["state"] == "stored":
            return parcel["id"]


def code_of(parcel):
    return hashlib.sha256(f"{parcel['id']}:{parcel['recipient']}".encode()).hexdigest()[:6]


def store(request):
    recipient, size = request.body.get("recipient"), request.body.get("size")
    if type(recipient) is not str or size not in list(SIZES):
        refuse(400, "invalid")
    for wanted in SIZES[SIZES.index(size) :]:
        for locker in LOCKERS:
            if locker["size"] == wanted and inside(locker) is None:
                parcel = {"id": len(STATE["parcels"]) + 1, "recipient": recipient, "size": size}
                parcel |= {"locker": locker["id"], "state": "stored"}
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


ROUTES = {
    "/parcels": {"POST": store},
    "/parcels/([0-9]+)": {"GET": show},
    "/lockers": {"GET": lockers},
}


def answer(request):
    for path, methods in ROUTES.items():
        match = re.fullmatch(path, request.path.partition("?")[0])
        if match and request.command in methods:
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
