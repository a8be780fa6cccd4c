from agenthard.audit.execution.evaluator_probes import probes
from tests.library import call, desk_task


def test_the_probes_of_a_task() -> None:
    tried = {probe.name: probe.attempt for probe in probes(desk_task(outputs=("12",), says="What of order 12?"))}
    assert list(tried) == ["nothing", "transfer", "refusal", "everything", "echo"]
    assert tried["nothing"].turns == tried["nothing"].replies == ()
    assert tried["transfer"].turns == ((call("transfer_to_human_agents"),),)
    assert tried["echo"].replies == ("What of order 12?",)
    said = tried["everything"].replies[0].split()
    assert {"b7", "ada", "bea", "lent_to"} <= set(said)
    assert len(said) == len(set(said))


def test_nothing_is_said_where_nobody_listens() -> None:
    assert [probe.name for probe in probes(desk_task())] == ["nothing", "transfer"]
