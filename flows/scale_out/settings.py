"""Where the shards of an audit are checked, as a command or a deployment gives it."""

from agenthard.flows.errors import CommandError
from agenthard.flows.scale_out.runner import Runner
from agenthard.taxonomy.record import Record

FILE, MEMORY = "file", "memory"
PROTOCOLS = (FILE, MEMORY, "s3", "gs", "gcs", "abfs", "az")
"""Kinds of stores; other protocols of fsspec only read, run code, or wrap one of these."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class ScaleOut(Record):
    """What checks the shards of an audit. It has no influence on the result."""

    runner: Runner = Runner.LOCAL
    """What checks the shards."""
    address: str | None = None
    """Address of the cluster (``tcp://host:8786``, ``ray://host:10001``); None = one on this machine, for this run."""
    store: str | None = None
    """URL of the folder in which shards and results lie; None = the run folder."""

    def check(self) -> None:
        """Refuse what cannot work before anything is read.

        Raises:
            CommandError: The options contradict each other.
        """
        self.check_address()
        name, address, store = self.runner.value, self.address, self.store
        if store and self.runner is Runner.LOCAL:
            raise CommandError("--store is for workers elsewhere, and --runner local has none; add --runner dask")
        protocol = protocol_of(store) if store else FILE
        if protocol not in PROTOCOLS or "::" in (store or ""):
            known = ", ".join(f"{each}://" for each in PROTOCOLS)
            raise CommandError(f"--store {store}: not a known kind of store; give a folder, or a URL of {known}")
        if store and "@" in store.partition("://")[2].partition("/")[0]:
            raise CommandError(
                "--store: no user name or key in the URL, since it is recorded; the client of the store reads them "
                "from its own files and variables"
            )
        if protocol == MEMORY and self.runner is not Runner.PREFECT:
            raise CommandError(f"--store {store}: workers of --runner {name} share no memory; give a folder or s3://…")
        if address and not store and not is_here(address):
            raise CommandError(
                f"workers at {address} may not see the run folder; add --store with a folder that all machines have, "
                "or with a bucket (s3://…, gs://…)"
            )

    def check_address(self) -> None:
        """Refuse an address where it would not be used.

        Raises:
            CommandError: The runner has no cluster.
        """
        if self.address and self.runner not in (Runner.DASK, Runner.RAY):
            raise CommandError(
                f"--address names a cluster, and --runner {self.runner.value} has none; add --runner dask"
            )


def protocol_of(store: str) -> str:
    """Return the protocol of a store: ``file`` for a path.

    >>> protocol_of("s3://bucket/audits"), protocol_of("/mnt/shared")
    ('s3', 'file')
    """
    protocol, separator, _ = store.partition("://")
    return protocol if separator else FILE


def is_here(address: str) -> bool:
    """Tell whether a cluster runs on this machine."""
    host = address.rpartition("://")[2].rpartition(":")[0]
    return address == "auto" or host in _LOOPBACK
