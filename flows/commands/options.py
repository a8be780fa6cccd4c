"""Options that several commands have, with one help text each."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.scale_out.runner import Runner

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder of an audit.", show_default=False)]
CheckoutOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the benchmark's own code, to run instead of the built-in code. From its import on it runs "
        "without network, new programs and privileges, and can change nothing outside a temporary folder. It can read "
        "what you can read (when AgentHard runs as root: what an unprivileged user can read), and it sees no "
        "environment variable. What it read can leave only in its answers, which findings may quote. It decides its "
        "own verdicts."
    ),
]
WeakIsolationOption = Annotated[
    bool,
    typer.Option(
        "--allow-weak-isolation",
        help="Execute benchmark code although a layer of containment is missing (namespaces, Landlock, "
        "seccomp, an unprivileged user). Without this option it is not executed, and the reason names what is missing.",
    ),
]
RunnerOption = Annotated[
    Runner, typer.Option(help="What does the work: processes of this machine, a Prefect flow, Dask or Ray.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(help="Cluster for --runner dask (tcp://…) or ray (ray://…); default: one of this machine's own."),
]
DrawsOption = Annotated[
    int, typer.Option(min=200, help="Random deletions behind every null distribution; a single one proves nothing.")
]
ResamplesOption = Annotated[int, typer.Option(min=1, help="Bootstrap resamples behind every interval.")]
SeedOption = Annotated[int, typer.Option(help="Seed of every draw: equal seeds give equal numbers.")]
VerdictsOption = Annotated[
    float, typer.Option(min=0, max=1, help="Smallest share of the tasks on which a compared model needs a verdict.")
]
EmbedderOption = Annotated[
    str,
    typer.Option(
        help="What turns prompts into vectors for the diversity: tfidf, hashing, "
        "sentence-transformers[:NAME or FOLDER], openai/NAME, google/NAME, compatible/NAME@BASE_URL, or a model file. "
        "Vectors of a model are kept in the run "
        "folder, and a text is sent once."
    ),
]
