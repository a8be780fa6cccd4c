"""``agenthard review``: people decide about flagged instances, together, in a browser."""

import json
from pathlib import Path
from typing import Annotated

import typer


def review(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders of audits.", show_default=False)],
    host: Annotated[str, typer.Option(help="Address to listen on; other than loopback needs TLS.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 = a free one.")] = 8420,
    users: Annotated[
        Path | None, typer.Option(help="Users, one per line: NAME ROLE TOKEN (reader, reviewer or admin).")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="Database of the verdicts; default: review.db in each run folder.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Your name on verdicts, without a users file; default: that of your account.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate, as PEM, to serve by HTTPS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Key of the certificate, as PEM.")] = None,
    allow_plain_http: Annotated[
        bool, typer.Option("--allow-plain-http", help="Serve a network without TLS: everyone in it can read along.")
    ] = False,
    public_host: Annotated[
        list[str] | None, typer.Option(help="Name under which browsers reach the server; repeatable.")
    ] = None,
    proxy_header: Annotated[
        str | None, typer.Option(metavar="NAME", help="Header in which a reverse proxy on this machine names the user.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON with the address and the runs, then serve.")
    ] = False,
) -> None:
    """Review flagged instances in a browser: queue, blind verdicts, adjudication; what people decide is kept.

    Prints an address with a token, and serves until it is interrupted. `agenthard decide` then applies the verdicts.

    Example: `agenthard review demo-run/demo`
    """
    from agenthard.flows.review.web.serve import Ready, ServeSettings, serve

    settings: ServeSettings = ServeSettings(
        runs=tuple(runs),
        host=host,
        port=port,
        users=users,
        store=store,
        name=name or "",
        tls_cert=tls_cert,
        tls_key=tls_key,
        allow_plain_http=allow_plain_http,
        public_hosts=tuple(public_host or ()),
        proxy_header=proxy_header or "",
    )

    def say(ready: Ready) -> None:
        if as_json:
            typer.echo(json.dumps({"url": ready.url, "runs": ready.runs}))
        else:
            for line in ready.greeting:
                typer.echo(line)

    serve(settings, say)
