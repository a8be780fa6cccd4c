"""Our own suite: six scenarios, one for each capability, whose every clause a program decides.

Each package below has ``SCENARIO`` (the record), ``seed`` (writes the workspace that the first task begins on) and
``CHECKS`` (for :func:`agenthard.agency.judges.grade`); its folder ``solutions/NAME/TASK`` holds files that are laid
over
the workspace, and ``commands.json``, commands that are run afterwards. ``catalogue`` finds and plays them, ``mutation``
measures how many damaged solutions a grader lets pass.
"""
