"""How a part is used: the checks in the order of the error classes, the comparison with the right values, the run."""

from collections.abc import Mapping
from typing import Any

from agenthard.escape.environment.conditions import Conditions, Execution, Feedback
from agenthard.escape.ports import WrongTypeError, canonical
from agenthard.escape.room import Instance, Link, Part
from agenthard.escape.templates import find_template
from agenthard.escape.templates.template import Files, ToolUseError
from agenthard.escape.values import execute
from agenthard.taxonomy.errors import AgentHardError

Answer = dict[str, Any]
"""What an agent is answered: ``ok``, and what was found or what is wrong."""


def refused(message: str, error: str = "refused") -> Answer:
    """Return the answer to a call that was not carried out."""
    return {"ok": False, "error": error, "message": message}


class Refusal(AgentHardError):  # noqa: N818 - it is an answer, and not a failure of the program
    """A use that is refused."""

    code = "AH624"
    remedy = "Nothing: the agent is told, and may continue."

    def __init__(self, error: str, message: str, sub_code: str = "", **more: Any) -> None:
        """Name the class of the error, what the agent is told, and the sub-code of the last class."""
        super().__init__(message)
        self.error = error
        self.sub_code = sub_code
        # Whether something out of sight exists is counted, and not told.
        self.answer: Answer = {**refused(message, "node_not_visible" if error == "node_not_exist" else error), **more}


class Uses:
    """The uses of one episode."""

    def __init__(self, instance: Instance, conditions: Conditions) -> None:
        """Prepare the uses of a room."""
        self._instance = instance
        self._conditions = conditions
        self._files = Files.restored(instance.secret.files)

    def target(
        self, name: str, arguments: Any, parts: Mapping[str, Part], visible: Mapping[str, None]
    ) -> tuple[Part, Mapping[str, Any]]:
        """Return the part that a use names, and the parameters.

        Raises:
            Refusal: It names none, or one of another kind.
        """
        if not isinstance(arguments, dict) or not isinstance(arguments.get("node_id"), str):
            raise Refusal("wrong_format", "give an object with node_id and params")
        given = arguments.get("params", {})
        if not isinstance(given, dict):
            raise Refusal("wrong_format", "params has to be an object with values by name")
        id = arguments["node_id"]
        if id not in parts:
            raise Refusal("node_not_exist", "there is nothing with this id")
        if id not in visible:
            raise Refusal("node_not_visible", "there is nothing with this id")
        part = parts[id]
        tool = part.kind in ("tool", "terminal")
        if part.kind == "item":
            raise Refusal("wrong_node_type", "this is looked at by investigate, and not used")
        if tool != (name == "use_tool"):
            raise Refusal("wrong_node_type", f"this is used by {'use_tool' if tool else 'use_item'}")
        return part, given

    def typed(self, part: Part, given: Mapping[str, Any]) -> dict[str, str]:
        """Return the canonical values of a use.

        Raises:
            Refusal: A parameter is missing, unknown, or not of its type.
        """
        names = {param.name for param in part.params}
        missing = sorted(names - given.keys())
        unexpected = sorted(given.keys() - names)
        if missing:
            told = dict.fromkeys(missing, "missing")
            raise Refusal("missing_required", f"parameters are missing: {', '.join(missing)}", params=told)
        values, wrong = {}, {}
        for param in part.params:
            try:
                values[param.name] = canonical(param.type, given[param.name])
            except WrongTypeError as error:
                wrong[param.name] = str(error)
        if wrong:
            message = "; ".join(f"{name}: {reason}" for name, reason in wrong.items())
            raise Refusal("wrong_type", message, params=dict.fromkeys(wrong, "wrong_type"))
        if unexpected:
            raise Refusal("other", "there are parameters that this does not have", "unexpected_param")
        return values

    def compare(self, part: Part, values: Mapping[str, str], resolved: Mapping[str, Any]) -> bool:
        """Tell whether all values are right.

        Raises:
            Refusal: They are not, and tools work with the right values only; it says what the feedback allows.
        """
        golden = self._instance.secret.mechanisms[part.id].inputs
        verdicts = {name: "correct" if value == golden.get(name) else "incorrect" for name, value in values.items()}
        if "incorrect" not in verdicts.values():
            return True
        # A lock or a container has no function that other values could be given to.
        if self._conditions.execution is Execution.FREE and part.kind in ("tool", "terminal"):
            return False
        missing = any(link.source not in resolved for link in self._instance.feeds(part.id).values())
        told: dict[str, Any] = {}
        if self._conditions.feedback is not Feedback.NONE:
            told["missing_dependency"] = missing
        if self._conditions.feedback is Feedback.PER_PARAM:
            told["params"] = verdicts
        raise Refusal("other", "nothing happens", "missing_dependency" if missing else "wrong_value", **told)

    def run(self, part: Part, values: Mapping[str, str]) -> dict[str, str]:
        """Run the real function; what it gives for the right values has to be what is recorded.

        Raises:
            Refusal: It cannot work with these values, or gives something else than is recorded.
        """
        mechanism = self._instance.secret.mechanisms[part.id]
        if part.kind in ("lock", "container"):
            return dict(mechanism.outputs)
        template = find_template(mechanism.template)
        assert template is not None, f"no template {mechanism.template}"
        try:
            outputs = execute(template, values, self._files, self._instance.secret.salt)
        except (ToolUseError, WrongTypeError) as error:
            raise Refusal("other", str(error), "execution_error") from error
        if values == mechanism.inputs and outputs != mechanism.outputs:
            reason = "this does not work here as it was recorded: its library has another version"
            raise Refusal("other", reason, "execution_error")
        return outputs

    def equal(self, part: str, input: str, given: Any, link: Link) -> bool:
        """Tell whether a parameter was given what its source really gives."""
        mechanism = self._instance.secret.mechanisms[part]
        template = find_template(mechanism.template)
        assert template is not None, f"no template {mechanism.template}"
        try:
            value = canonical(template.input(input).type, given)
        except WrongTypeError:
            return False
        return value == self._instance.secret.mechanisms[link.source].outputs.get(link.output)
