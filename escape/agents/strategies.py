"""Agents that know only what they are shown."""

from itertools import islice, product

from agenthard.escape.agents.explorer import Explorer

_TRIES = 400
"""Combinations of values that are tried at a part before it is left until something new is known."""


def hints(explorer: Explorer) -> None:
    """Follows the hints by the key that they were written with: the most that the texts tell, without any search."""
    while True:
        explorer.submit_if_found()
        looked = explorer.look_around()
        ready = [id for id in explorer.usable() if explorer.hinted(id).keys() >= explorer.parts[id].params.keys()]
        calls = [(explorer.parts[id].call, {"node_id": id, "params": explorer.hinted(id)}) for id in ready]
        before = {id: explorer.parts[id].resolved for id in ready}
        explorer.turn(calls)
        if not looked and not any(explorer.parts[id].resolved and not was for id, was in before.items()):
            explorer.turn([("give_up", {"reason": "the hints lead no further"})])


def answer_only(explorer: Explorer) -> None:
    """Uses nothing: submits every value that the texts in sight tell, as it is and as an answer begins."""
    explorer.look_around()
    guesses = [guess for value in explorer.told for guess in (value, f"ESC-{value}")]
    explorer.turn([("submit_answer", {"answer": guess}) for guess in guesses])
    explorer.turn([("give_up", {"reason": "nothing else is told"})])


def greedy(explorer: Explorer) -> None:
    """Reads no hint: tries known values of the right type, one parameter after the other where feedback allows."""
    _search(explorer, use_hints=False)


def clue_first(explorer: Explorer) -> None:
    """Follows hints where they lead to a value of a text, and searches the rest like `greedy`."""
    _search(explorer, use_hints=True)


def random(explorer: Explorer) -> None:
    """Uses any part with any known values of the right types."""
    while True:
        explorer.submit_if_found()
        explorer.look_around()
        ids = list(explorer.usable())
        calls = []
        for id in explorer.rng.sample(ids, min(4, len(ids))):
            pools = {name: explorer.pool(type) for name, type in explorer.parts[id].params.items()}
            if all(pools.values()):
                params = {name: explorer.rng.choice(pool) for name, pool in pools.items()}
                calls.append((explorer.parts[id].call, {"node_id": id, "params": params}))
        if not calls:
            explorer.turn([("give_up", {"reason": "nothing can be tried"})])
        explorer.turn(calls)


def _search(explorer: Explorer, *, use_hints: bool) -> None:
    tried: dict[str, set[tuple[str, ...]]] = {}
    right: dict[str, dict[str, str]] = {}
    wrong: dict[tuple[str, str], set[str]] = {}
    while True:
        explorer.submit_if_found()
        looked = explorer.look_around()
        moves = []
        for id in explorer.usable():
            params = _next(explorer, id, tried.setdefault(id, set()), right.setdefault(id, {}), wrong, use_hints)
            if params is not None:
                moves.append((id, params))
        if not moves and not looked:
            explorer.turn([("give_up", {"reason": "everything was tried"})])
        explorer.rng.shuffle(moves)
        now = moves[: explorer.per_turn]
        calls = [(explorer.parts[id].call, {"node_id": id, "params": params}) for id, params in now]
        for (id, params), answer in zip(moves, explorer.turn(calls), strict=False):
            tried[id].add(tuple(params.values()))
            for name, verdict in answer.get("params", {}).items():
                if verdict == "correct":
                    right[id][name] = params[name]
                elif verdict == "incorrect":
                    wrong.setdefault((id, name), set()).add(params[name])


def _next(
    explorer: Explorer,
    id: str,
    tried: set[tuple[str, ...]],
    right: dict[str, str],
    wrong: dict[tuple[str, str], set[str]],
    use_hints: bool,
) -> dict[str, str] | None:
    """Return values that were not tried at a part; None when all were tried."""
    part = explorer.parts[id]
    hinted = explorer.hinted(id) if use_hints else {}
    choices = []
    for name, type in part.params.items():
        known = right.get(name) or hinted.get(name)
        ruled_out = wrong.get((id, name), set())
        pool = [known] if known and known not in ruled_out else explorer.pool(type)
        choices.append([value for value in pool if value not in ruled_out])
    if len(tried) >= _TRIES:
        return None
    every = islice(product(*choices), _TRIES + len(tried))
    found = next((values for values in every if values not in tried), None)
    return None if found is None else dict(zip(part.params, found, strict=True))
