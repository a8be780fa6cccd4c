"""What a command and its stages do, for logs and for OpenTelemetry (extra ``otel``).

Spans and metrics leave this process only where ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set; otherwise nothing of
OpenTelemetry is imported. One span is the command, one each stage, such as one shard. They carry names, numbers and
durations, never texts of a benchmark or of a model.
"""

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import version as package_version
from typing import Any, ParamSpec, Protocol, TypeVar

from agenthard.flows import progress
from agenthard.flows.logs import bound, log

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""Environment variable with the URL of a collector; OpenTelemetry reads it and its other variables itself."""
CHECKING = "checking tasks"
"""Stage of an audit whose items are tasks."""
PATIENCE_MS = 5000
"""Longest wait for the collector at the end of a command."""


class StageLike(Protocol[P, R_co]):
    """What a stage of a flow tells about itself."""

    @property
    def function(self) -> Callable[P, R_co]:
        """What it does."""

    @property
    def name(self) -> str:
        """Its name."""


class _Exporter:
    """Sends spans and metrics to a collector until the command ends."""

    def __init__(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        given = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "agenthard"}
        resource = Resource.create({**given, SERVICE_VERSION: package_version("agenthard")})
        self._traces = TracerProvider(resource=resource)
        self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        self._metrics = MeterProvider(metric_readers=[reader], resource=resource)
        self.tracer = self._traces.get_tracer("agenthard")
        meter = self._metrics.get_meter("agenthard")
        self.tasks = meter.create_counter("agenthard.tasks.checked", "{task}", "Tasks that an audit has checked")
        self.findings = meter.create_counter("agenthard.findings", "{finding}", "Findings of audits, by tier")
        self._checked = 0

    def observe(self, stage: str, done: int, total: int | None, *, new: bool) -> None:
        """Count checked tasks."""
        if stage == CHECKING:
            self.tasks.add(max(0, done - (0 if new else self._checked)))
            self._checked = done

    def close(self) -> None:
        """Send the rest. A collector that does not answer is not a reason to fail."""
        self._traces.force_flush(PATIENCE_MS)
        self._metrics.force_flush(PATIENCE_MS)
        self._traces.shutdown()
        self._metrics.shutdown(timeout_millis=PATIENCE_MS)


_exporter: list[_Exporter] = []


@contextmanager
def command_span(name: str) -> Iterator[None]:
    """Record a command as a span while the block runs, if a collector is configured.

    Args:
        name: The command, such as "audit".
    """
    exporter = _started()
    if exporter is None:
        yield
        return
    _exporter.append(exporter)
    try:
        with progress.observed(exporter.observe), exporter.tracer.start_as_current_span(f"agenthard {name}"):
            yield
    finally:
        _exporter.remove(exporter)
        exporter.close()


def _started() -> _Exporter | None:
    if not os.environ.get(ENDPOINT) or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or _exporter:
        return None
    try:
        return _Exporter()
    except ImportError as error:
        log.warning("%s is set, but nothing is sent: %s; install agenthard[otel]", ENDPOINT, error)
        return None


def count_findings(findings: Mapping[str, int]) -> None:
    """Count the findings of an audit, by tier."""
    for exporter in _exporter:
        for tier, count in findings.items():
            exporter.findings.add(count, {"tier": tier})


def instrumented(stage: StageLike[P, R]) -> Callable[P, R]:
    """Return the function of a stage so that logs and spans name the stage.

    Args:
        stage: The stage; where its function has a parameter ``number``, that is the number of the shard or process.
    """
    function = stage.function

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return _run(stage.name, function, args, kwargs)

    return run


def _run(name: str, function: Callable[..., R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
    number = inspect.signature(function).bind(*args, **kwargs).arguments.get("number")
    numbered: dict[str, Any] = {"shard": number} if isinstance(number, int) else {}
    began = time.monotonic()
    with bound(stage=name, **numbered), _span(name, numbered):
        result = function(*args, **kwargs)
        seconds = round(time.monotonic() - began, 3)
        log.debug("%s finished", name, extra={"event": "stage-finished", "seconds": seconds})
        return result


@contextmanager
def _span(name: str, numbered: Mapping[str, int]) -> Iterator[None]:
    if not _exporter:
        yield
        return
    attributes = {f"agenthard.{key}": value for key, value in numbered.items()}
    with _exporter[-1].tracer.start_as_current_span(name, attributes=attributes):
        yield
