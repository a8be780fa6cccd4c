"""The error of a feature whose package is not installed."""


class MissingExtra(ImportError):
    """A feature needs a package that is installed with an extra only; the message names the command."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages that are not installed; next: pip install 'agenthard[{extra}]'")
