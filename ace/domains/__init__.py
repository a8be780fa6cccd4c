"""The domains: every module of this package that defines ``DOMAIN`` is one, so a new file is a new domain."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from agenthard.ace.domain import Domain
from agenthard.taxonomy.errors import AgentHardError

__all__ = ["UnknownDomainError", "load", "names"]


class UnknownDomainError(AgentHardError, ValueError):
    """A domain was asked for that no file of ``ace/domains`` defines."""

    code = "AH604"
    remedy = "Choose one of the domains in the message."


@cache
def names() -> tuple[str, ...]:
    """Returns the names of all domains, sorted.

    Returns:
        The names: those of the modules in this package.
    """
    return tuple(sorted(module.name for module in iter_modules(__path__)))


@cache
def load(name: str) -> Domain:
    """Returns a domain by name; only its own file is imported.

    Args:
        name: Name of the domain, such as "course".

    Returns:
        The domain.

    Raises:
        UnknownDomainError: No file defines it; the message lists those there are.
        TypeError: Its file defines no ``DOMAIN`` of that name.
    """
    if name not in names():
        raise UnknownDomainError(f"unknown domain {name!r}; there are: {', '.join(names())}")
    domain = getattr(import_module(f"{__name__}.{name}"), "DOMAIN", None)
    if not isinstance(domain, Domain) or domain.name != name:
        raise TypeError(f"ace/domains/{name}.py must define DOMAIN = Domain(name={name!r}, ...)")
    return domain
