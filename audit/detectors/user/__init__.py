"""Checks of the user and its simulator."""

from audit.detectors.user.role_confusion import UserRoleConfusion

__all__ = ["UserRoleConfusion"]
