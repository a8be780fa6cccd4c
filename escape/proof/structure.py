"""Whether the parts of a room fit together, before anything of it is executed."""

from collections import Counter
from collections.abc import Iterator

from agenthard.escape.ports import PHYSICAL, WrongTypeError, canonical
from agenthard.escape.room import Instance, Link
from agenthard.escape.templates import find_template

MAX_PARTS = 1_000


def structure_problems(instance: Instance) -> Iterator[tuple[str, str]]:
    """Yield what does not fit, as the id of the part and a message; nothing else of a room may be trusted before."""
    room, secret = instance.room, instance.secret
    ids = [part.id for part in room.parts]
    if len(ids) != room.nodes or len(set(ids)) < len(ids) or len(ids) > MAX_PARTS:
        yield "", f"the room announces {room.nodes} parts and has {len(set(ids))}"
        return
    if set(ids) != secret.mechanisms.keys():
        yield "", "the parts of the public and of the private file are not the same"
        return
    unknown = [id for id in ids if find_template(secret.mechanisms[id].template) is None]
    for id in unknown:
        yield id, f"no template has the name {secret.mechanisms[id].template!r}"
    if unknown:
        return
    if sum(part.kind == "terminal" for part in room.parts) != 1:
        yield "", "a room has exactly one exit"
        return
    if strange := set(room.visible) - set(ids):
        yield "", f"what is in sight is not there: {', '.join(sorted(strange))}"
    links = list(_link_problems(instance))
    yield from links
    if not links:
        yield from _graph_problems(instance)
        yield from _value_problems(instance)


def _link_problems(instance: Instance) -> Iterator[tuple[str, str]]:
    mechanisms = instance.secret.mechanisms
    for link in instance.secret.links:
        if link.source not in mechanisms or link.target not in mechanisms:
            yield "", f"a link leads from {link.source} to {link.target}, which are not both there"
            continue
        given = find_template(mechanisms[link.source].template)
        taken = find_template(mechanisms[link.target].template)
        assert given is not None and taken is not None, "templates were checked before"
        out = next((port for port in given.outputs if port.name == link.output), None)
        into = next((port for port in taken.inputs if port.name == link.input), None)
        if out is None or into is None or out.type != into.type:
            yield link.target, f"the link from {link.source}.{link.output} does not fit {link.input}"
    fed = Counter((link.target, link.input) for link in instance.secret.links)
    yield from ((target, f"{input} is fed twice") for (target, input), times in fed.items() if times > 1)


def _graph_problems(instance: Instance) -> Iterator[tuple[str, str]]:
    try:
        instance.order()
    except ValueError as error:
        yield "", str(error)
        return
    links: tuple[Link, ...] = instance.secret.links
    leading = {instance.exit}
    while more := {link.source for link in links if link.target in leading} - leading:
        leading |= more
    for part in instance.room.parts:
        if part.id not in leading:
            yield part.id, "it does not lead to the exit"
        appears = any(link.target == part.id and link.input == "trigger" for link in links)
        if appears == (part.id in instance.room.visible):
            yield part.id, "nothing makes it appear" if not appears else "it is in sight before it appears"


def _value_problems(instance: Instance) -> Iterator[tuple[str, str]]:
    for part in instance.room.parts:
        mechanism = instance.secret.mechanisms[part.id]
        template = find_template(mechanism.template)
        assert template is not None, "templates were checked before"
        wanted = {port.name for port in template.params}
        shown = {param.name for param in part.params}
        if wanted != mechanism.inputs.keys() or shown != wanted:
            yield part.id, "its parameters are not those of its template"
            continue
        if part.kind != template.kind:
            yield part.id, f"it is called {part.kind}, and its template is {template.kind}"
        given = {port.name: port.type for port in template.outputs if port.type not in PHYSICAL}
        if given.keys() != mechanism.outputs.keys():
            yield part.id, "its outputs are not those of its template"
            continue
        types = {port.name: port.type for port in template.params}
        for values, kinds in ((mechanism.inputs, types), (mechanism.outputs, given)):
            for name, value in values.items():
                try:
                    if canonical(kinds[name], value) != value:
                        yield part.id, f"{name} is not written the one way that values are compared in"
                except WrongTypeError as error:
                    yield part.id, f"{name}: {error}"
