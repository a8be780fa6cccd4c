from agenthard.audit.judge.context.alternatives import Alternatives
from agenthard.audit.judge.context.state_index import shared_index
from tests.audit.judge.ferries import FERRIES

CHOICES = Alternatives(shared_index(FERRIES))
RIGA_TO_KIEL = {("origin", "riga"), ("destination", "kiel")}


def numbers(records: object) -> set[str]:
    assert isinstance(records, (set, dict))
    return {record.rpartition("/")[2] for record in records}


def test_what_shares_two_values_with_a_text_sails_both_ways() -> None:
    assert numbers(CHOICES.like({"riga", "kiel", "ferry"})) == {"F001", "F073", "F009"}


def test_what_shares_two_fields_sails_one_way() -> None:
    assert numbers(CHOICES.along(RIGA_TO_KIEL)) == {"F001", "F073"}
    assert CHOICES.along({("origin", "riga")}) == set()


def test_the_way_round_has_a_sailing_from_one_end_and_one_to_the_other() -> None:
    found = numbers(CHOICES.by_way(RIGA_TO_KIEL))
    assert {"F002", "F018"} <= found  # by Oslo
    assert found.isdisjoint({"F001", "F073", "F009"})
    assert len(found) == 14  # seven ports between


def test_where_two_legs_meet_no_way_ends() -> None:
    legs = {("origin", "riga"), ("destination", "oslo"), ("origin", "oslo"), ("destination", "kiel")}
    assert CHOICES.by_way(legs) == CHOICES.by_way(RIGA_TO_KIEL)


def test_what_is_unique_is_enough_alone() -> None:
    assert numbers(CHOICES.like({"f005"}, alone=True)) == {"F005"}
    assert CHOICES.like({"f005"}) == {}
