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
    remedy = "Read the message: it names the model, the reason and the next command."


class ConfigurationError(ModelError):
    """A model name, a model file or a price table is wrong."""

    code = "AH501"
    remedy = "Correct the model name, the model file or the price table as the message says."


class MissingKeyError(ModelError):
    """The environment holds no key for a provider."""

    code = "AH502"
    remedy = "Set the environment variable that the message names."


class StopError(ModelError):
    """Nothing more can be asked of this model; what is done so far stays."""

    code = "AH503"
    remedy = "Remove the cause that the message names and run the same command again: finished work is kept."


class WrongKeyError(StopError):
    """The provider refuses the key."""

    code = "AH504"
    remedy = "Set a valid key in the environment variable of the provider, and run the same command again."


class UnknownModelError(StopError):
    """The provider knows no such model."""

    code = "AH505"
    remedy = "Choose a model that the provider offers to your account."


class UnreachableError(StopError):
    """No connection to the provider, after all retries."""

    code = "AH506"
    remedy = "Check the network and the address of the provider, and run the same command again."


class BudgetExhaustedError(StopError):
    """The budget of the run is spent."""

    code = "AH507"
    remedy = "Raise the budget and run the same command again: paid replies are kept."


class StorageError(StopError):
    """The cache, the ledger or a cassette cannot be read or written; what it holds stays as it is."""

    code = "AH508"
    remedy = "Free disk space, or give another file with `--cache`, and run the same command again."


class NotRecordedError(StopError):
    """A cassette has no answer to this request."""

    code = "AH509"
    remedy = "Record the cassette again with this request, or repeat the request exactly."


class BadRequestError(ModelError):
    """The provider refuses this request, and would again."""

    code = "AH510"
    remedy = "Correct the request parameters in the model file; the message quotes the provider."


class ContextOverflowError(BadRequestError):
    """The conversation is longer than the model reads."""

    code = "AH511"
    remedy = "Choose a model with a longer context, or shorten the input."


class TransientError(ModelError):
    """An attempt failed and another may not."""

    code = "AH512"
    remedy = "Nothing: the request is repeated. If it keeps failing, run the same command again later."


class RateLimitError(TransientError):
    """The provider wants us to wait."""

    code = "AH513"
    remedy = (
        "Nothing: the request is repeated after the pause that the provider asks for. Lower "
        "`--in-flight` if it persists."
    )

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ServerError(TransientError):
    """The provider failed, or the connection broke off."""

    code = "AH514"
    remedy = "Nothing: the request is repeated. If it keeps failing, check the status page of the provider."

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""


class ConnectionFailedError(ServerError):
    """No connection came about; after all retries that is `UnreachableError`."""

    code = "AH515"
    remedy = "Nothing: the request is repeated. If it keeps failing, check the network and the address of the provider."


class ConnectionLostError(ServerError):
    """The connection broke off before the reply was complete."""

    code = "AH516"
    remedy = "Nothing: the request is repeated. If it keeps failing, check the network."


class RequestTimeoutError(TransientError):
    """No answer came in time."""

    code = "AH517"
    remedy = "Nothing: the request is repeated. If it keeps failing, raise the timeout in the model file."


class MalformedReplyError(ModelError):
    """The provider answered with nothing that can be read as a reply."""

    code = "AH518"
    remedy = "Run the same command again; if it persists, the address is not one of a compatible server."
