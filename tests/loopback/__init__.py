"""A server on loopback that speaks OpenAI's and Gemini's protocols, and fails on purpose."""

from tests.loopback.app import KEY, Service
from tests.loopback.faults import Fault, Faults
from tests.loopback.server import Loopback
from tests.loopback.talk import Answer, Asked, Brain, Called, Said

__all__ = ["KEY", "Answer", "Asked", "Brain", "Called", "Fault", "Faults", "Loopback", "Said", "Service"]
