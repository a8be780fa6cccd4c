"""What commands say about the containment of benchmark code; ``docs/execution-workers.md`` has it at length."""

CHECKOUT_HELP = (
    "Folder with the benchmark's own code, to run instead of ours. From its import on it runs without network, new "
    "programs and rights, and can change nothing outside a temporary folder. It can read what the user nobody can read "
    "when AgentHard runs as root, else what you can read; it sees no environment variable, and what it read can leave "
    "only in its answers, which findings may quote. It decides its own verdicts."
)
WEAK_HELP = (
    "Execute benchmark code although this machine lacks a layer of containment (namespaces, Landlock, seccomp, an "
    "unprivileged user); without this it is not executed, and the reason says what is missing."
)
