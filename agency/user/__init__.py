"""The simulated user: what an agent is told after an attempt that did not pass.

``feedback`` has the record and the protocol, ``template`` a user without a model, ``model`` one that a model plays,
``leaks`` what is taken out of every feedback.
"""

from agenthard.agency.user.feedback import Feedback, Leak, Situation, User
from agenthard.agency.user.leaks import LeakFilter
from agenthard.agency.user.model import ModelUser
from agenthard.agency.user.template import TemplateUser

__all__ = ["Feedback", "Leak", "LeakFilter", "ModelUser", "Situation", "TemplateUser", "User"]
