import gc

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.taxonomy import EnvironmentSpec


def test_a_value_is_computed_once_per_object() -> None:
    seen: list[str] = []

    def policy(environment: EnvironmentSpec) -> str:
        seen.append(environment.policy)
        return environment.policy.upper()

    cache = IdentityCache(policy)
    one, equal = EnvironmentSpec(policy="a"), EnvironmentSpec(policy="a")
    assert [cache(one), cache(one), cache(equal)] == ["A", "A", "A"]
    assert seen == ["a", "a"]


def test_nothing_is_kept_longer_than_its_owner() -> None:
    cache = IdentityCache(lambda environment: object())
    for _ in range(50):
        assert cache(EnvironmentSpec()) is not None
    gc.collect()
    assert cache._kept == {}
