"""Talking to the service: it is started in the job, asked over loopback, and killed."""

import json
from collections.abc import Sequence
from typing import Any

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.backend.model import Parcel, Wall
from agenthard.agency.suite.kit import LIMITS, MARK, agree, results

HARNESS = """
import http.client, json, os, socket, subprocess, sys, tempfile, time
job = json.loads(sys.argv[1])
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
data = os.path.join(tempfile.gettempdir(), "wall")
with open(data + ".json", "w") as file:
    json.dump(job["lockers"], file)
def start():
    service = subprocess.Popen(["python3", "service.py", str(port), data + ".db", data + ".json"],
                               stdout=subprocess.DEVNULL)
    for _ in range(400):
        if service.poll() is not None:
            sys.exit("Error: the service ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return service
        except OSError:
            time.sleep(0.05)
    sys.exit("Error: the service does not listen")
def ask(method, target, body, key):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        headers = {} if key is None else {"Idempotency-Key": key}
        connection.request(method, target, None if body is None else body.encode(), headers)
        answer = connection.getresponse()
        return [answer.status, json.loads(answer.read().decode())]
    except (OSError, ValueError, http.client.HTTPException) as error:
        return [type(error).__name__, None]
    finally:
        connection.close()
service = start()
found = []
for step in job["steps"]:
    if step == "kill":
        service.kill()
        service.wait()
        service = start()
    else:
        found.append(ask(*step))
        if not isinstance(found[-1][0], int):
            break
service.kill()
service.wait()
print(%r + json.dumps(found))
"""
Step = tuple[str, str, str | None, str | None] | str
SMALL = [{"id": "A1", "size": "S"}, {"id": "A2", "size": "M"}, {"id": "B1", "size": "S"}, {"id": "B2", "size": "L"}]
LARGE = [{"id": f"{row}{column}", "size": "LSMSML"[column % 6]} for row in "XWA" for column in range(1, 10)]


def post(target: str, key: str | None = None, **members: object) -> Step:
    """Return a request with a JSON object."""
    return ("POST", target, json.dumps(members), key)


def get(target: str) -> Step:
    """Return a request without a body."""
    return ("GET", target, None, None)


def store(recipient: str, size: str, key: str | None = None) -> Step:
    """Return the request that stores a parcel."""
    return post("/parcels", key, recipient=recipient, size=size)


def code(number: int, recipient: str) -> str:
    """Return the code of a parcel."""
    return Parcel(number, recipient, "S", "", 0).code


def converse(probe: Probe, lockers: list[dict[str, str]], steps: Sequence[Step]) -> Outcome:
    """Ask a new service, and compare its answers with those of the model."""
    job = json.dumps({"lockers": lockers, "steps": steps})
    found: Any = results(probe, "python3", "-c", HARNESS % MARK, job, limits=LIMITS, own_tcp=True)
    wall = Wall(lockers)
    asked = [step for step in steps if not isinstance(step, str)]
    wanted = [wall.answer(*step) for step in asked]
    found = [*found, *[None] * (len(wanted) - len(found))]
    return agree(
        found, wanted, [f"request {at} {step[0]} {step[1]} {step[2] or ''}" for at, step in enumerate(asked, 1)]
    )
