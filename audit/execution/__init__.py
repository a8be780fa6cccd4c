"""Execution: ground truths are replayed and evaluators are tested in the benchmark's own environment.

``environment`` is the interface, ``registry`` finds the class of a benchmark, and ``context`` opens environments for
one audit (``Execution``). ``workers`` contains untrusted code, and ``worker_environment`` is the base of environments
that use it. ``tau``, ``bfcl`` and ``acebench`` are the environments of these benchmarks.

``replay``, ``gold``, ``attempts``, ``mutation``, ``necessity``, ``counterfactual`` and ``evaluator_probes`` are what
checks do with an environment. ``declared_evaluation`` scores without one. ``policy`` has policies as rules.
"""
