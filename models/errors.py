"""What can go wrong between us and a model.

ModelError
├── ConfigurationError      ours to mend before any work: a name, a model file, a price table
├── MissingKey              no key in the environment
├── Stop                    nothing more can be asked; what is done so far stays
│   ├── WrongKey            the provider refuses the key
│   ├── UnknownModel        the provider knows no such model
│   ├── Unreachable         no connection, after all retries
│   ├── BudgetExhausted     the run's budget is spent
│   ├── StorageFailed       cache, ledger or cassette cannot be read or written: disk full, no permission, damaged
│   └── NotRecorded         a cassette has no answer to this request
├── BadRequest              this request cannot be answered; others can
│   └── ContextOverflow     it is longer than the model reads
├── Transient               worth another attempt
│   ├── RateLimited         429; ``retry_after`` says when, if the provider did
│   ├── ServerError         5xx
│   │   ├── ConnectionFailed    no connection at all: nobody listens there, or the host has no such name
│   │   └── ConnectionLost      it broke off after the request was sent; the provider may charge for it
│   └── TimedOut            no answer in time
└── MalformedReply          the provider answered, with nothing that can be read as a reply

A refusal is a reply (``finish == "refusal"``), not an error. No message holds a key.
"""


class ModelError(Exception):
    """Something went wrong between us and a model; the message says what, where and what to do next."""


class ConfigurationError(ModelError):
    """A model name, a model file or a price table is wrong."""


class MissingKey(ModelError):
    """The environment holds no key for a provider."""


class Stop(ModelError):
    """Nothing more can be asked of this model; what is done so far stays."""


class WrongKey(Stop):
    """The provider refuses the key."""


class UnknownModel(Stop):
    """The provider knows no such model."""


class Unreachable(Stop):
    """No connection to the provider, after all retries."""


class BudgetExhausted(Stop):
    """The budget of the run is spent."""


class StorageFailed(Stop):
    """The cache, the ledger or a cassette cannot be read or written; what it holds stays as it is."""


class NotRecorded(Stop):
    """A cassette has no answer to this request."""


class BadRequest(ModelError):
    """The provider refuses this request, and would again."""


class ContextOverflow(BadRequest):
    """The conversation is longer than the model reads."""


class Transient(ModelError):
    """An attempt failed and another may not."""


class RateLimited(Transient):
    """The provider wants us to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ServerError(Transient):
    """The provider failed, or the connection broke off."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ConnectionFailed(ServerError):
    """No connection came about; after all retries that is `Unreachable`."""


class ConnectionLost(ServerError):
    """The connection broke off before the reply was complete."""


class TimedOut(Transient):
    """No answer came in time."""


class MalformedReply(ModelError):
    """The provider answered with nothing that can be read as a reply."""
