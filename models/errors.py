"""What can go wrong between us and a model.

ModelError
├── ConfigurationError      ours to mend before any work: a name, a model file, a price table
├── MissingKeyError              no key in the environment
├── Stop                    nothing more can be asked; what is done so far stays
│   ├── WrongKeyError            the provider refuses the key
│   ├── UnknownModelError        the provider knows no such model
│   ├── Unreachable         no connection, after all retries
│   ├── BudgetExhaustedError     the run's budget is spent
│   ├── StorageError       cache, ledger or cassette cannot be read or written: disk full, no permission, damaged
│   └── NotRecordedError         a cassette has no answer to this request
├── BadRequestError              this request cannot be answered; others can
│   └── ContextOverflowError     it is longer than the model reads
├── Transient               worth another attempt
│   ├── RateLimitError         429; ``retry_after`` says when, if the provider did
│   ├── ServerError         5xx
│   │   ├── ConnectionFailedError    no connection at all: nobody listens there, or the host has no such name
│   │   └── ConnectionLostError      it broke off after the request was sent; the provider may charge for it
│   └── RequestTimeoutError            no answer in time
└── MalformedReplyError          the provider answered, with nothing that can be read as a reply

A refusal is a reply (``finish == "refusal"``), not an error. No message holds a key.
"""

from agenthard.taxonomy.errors import AgentHardError


class ModelError(AgentHardError):
    """Something went wrong between us and a model; the message says what, where and what to do next."""

    code = "AH500"


class ConfigurationError(ModelError):
    """A model name, a model file or a price table is wrong."""

    code = "AH501"


class MissingKeyError(ModelError):
    """The environment holds no key for a provider."""

    code = "AH502"


class StopError(ModelError):
    """Nothing more can be asked of this model; what is done so far stays."""

    code = "AH503"


class WrongKeyError(StopError):
    """The provider refuses the key."""

    code = "AH504"


class UnknownModelError(StopError):
    """The provider knows no such model."""

    code = "AH505"


class UnreachableError(StopError):
    """No connection to the provider, after all retries."""

    code = "AH506"


class BudgetExhaustedError(StopError):
    """The budget of the run is spent."""

    code = "AH507"


class StorageError(StopError):
    """The cache, the ledger or a cassette cannot be read or written; what it holds stays as it is."""

    code = "AH508"


class NotRecordedError(StopError):
    """A cassette has no answer to this request."""

    code = "AH509"


class BadRequestError(ModelError):
    """The provider refuses this request, and would again."""

    code = "AH510"


class ContextOverflowError(BadRequestError):
    """The conversation is longer than the model reads."""

    code = "AH511"


class TransientError(ModelError):
    """An attempt failed and another may not."""

    code = "AH512"


class RateLimitError(TransientError):
    """The provider wants us to wait."""

    code = "AH513"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ServerError(TransientError):
    """The provider failed, or the connection broke off."""

    code = "AH514"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ConnectionFailedError(ServerError):
    """No connection came about; after all retries that is `UnreachableError`."""

    code = "AH515"


class ConnectionLostError(ServerError):
    """The connection broke off before the reply was complete."""

    code = "AH516"


class RequestTimeoutError(TransientError):
    """No answer came in time."""

    code = "AH517"


class MalformedReplyError(ModelError):
    """The provider answered with nothing that can be read as a reply."""

    code = "AH518"
