"""Query plans: their queries suffice in the paper's environment, and plans that do not are refused."""

from dataclasses import replace

import pytest

from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance, QueryPlan, QueryStep
from agenthard.ace.proof.plan import find_plan, plan_problem
from agenthard.ace.records import answer_line, read_instance
from tests.ace.made import small_suite

SUITE = Parameters(rows=4, cols=5, hidden_slots=(3,), decoy_budgets=(4,), candidates=9, domains=("meal",), seed=1)


def planned() -> tuple[Instance, QueryPlan]:
    instance = next(generate(SUITE))
    plan = find_plan(instance)
    assert plan is not None
    return instance, plan


def test_every_plan_that_is_found_leads_to_the_solution_and_says_what_it_needs() -> None:
    for instance in small_suite():
        plan = find_plan(instance)
        assert plan is not None and plan_problem(instance, plan) is None
        budgets = Budgets(extra_queries=plan.extra_queries)
        for index, slot in enumerate(instance.puzzle.slots):
            asked = sum(step.slot == index for step in plan.steps)
            assert asked <= (budgets.queries(instance.puzzle, slot) or 0)
        assert plan.checks <= (budgets.global_checks(instance.puzzle) or 0)


def test_the_checks_of_a_plan_are_enough_to_tell_the_solution() -> None:
    instance, plan = planned()
    environment = Environment(instance.puzzle, mode=Mode.PAPER, budgets=Budgets(extra_queries=plan.extra_queries))
    for step in plan.steps:
        cell = instance.puzzle.slots[step.slot]
        asked = {"row": cell.row, "col": cell.col, "field": step.field, "operator": step.operator, "value": step.value}
        answer = environment.call("query_meal_candidate_from_attribute", asked)
        assert answer["status"] == "success" and all(isinstance(id, str) for id in answer["data"]["matches"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda plan: replace(plan, steps=()), "leaves"),
        (lambda plan: replace(plan, steps=plan.steps * 9), "refused"),
        (lambda plan: replace(plan, extra_queries=-1), "no limit"),
        (lambda plan: replace(plan, checks=plan.checks + 1), "checks"),
        (lambda plan: replace(plan, steps=(QueryStep(99, "price", ">=", 1),)), "slot 99"),
        (lambda plan: replace(plan, steps=(QueryStep(0, "price", ">", 1),)), "tells nothing"),
        (lambda plan: replace(plan, steps=(QueryStep(0, "name", "in", words=("x",)),)), "tells nothing"),
    ],
)
def test_a_plan_that_does_not_lead_to_the_solution_is_refused(change, reason: str) -> None:  # type: ignore[no-untyped-def]
    instance, plan = planned()
    assert reason in str(plan_problem(instance, change(plan)))


def test_a_plan_is_stored_with_the_certificate_only_where_it_was_asked_for() -> None:
    plain = next(generate(SUITE))
    with_plan = next(generate(SUITE.model_copy(update={"query_plans": True})))
    assert b'"plan"' not in answer_line(plain)
    assert plain.puzzle == with_plan.puzzle and plain.answer == with_plan.answer
    assert with_plan.certificate is not None and with_plan.certificate.plan == find_plan(plain)
    assert read_instance(with_plan.puzzle, answer_line(with_plan)) == with_plan
    assert read_instance(plain.puzzle, answer_line(plain)) == plain
