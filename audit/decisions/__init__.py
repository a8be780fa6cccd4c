"""Decisions: a policy turns findings into keep, drop and review, and splits are written from them.

``policy`` has the rules and decides; ``support`` says what a clean result is based on; ``split``, ``repaired_split``
and ``difficulty`` make the cleaned, repaired and hard split; ``priority`` orders the review queue and ``tickets`` the
shared causes.
"""
