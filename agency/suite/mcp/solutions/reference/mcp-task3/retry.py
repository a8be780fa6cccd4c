from desk.client import Refused


def call(desk, tool, **arguments):
    while True:
        try:
            return desk.call(tool, **arguments)
        except Refused as refused:
            if "busy" not in str(refused):
                raise
