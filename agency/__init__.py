"""AgencyBench: long work in a workspace, in chains of tasks. Workspaces, scenarios and the paper's measures."""
