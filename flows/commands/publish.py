"""``agenthard publish``: a split as others can use it, with a version, its removals, a card and a signature."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json

if TYPE_CHECKING:
    from agenthard.flows.publishing.records import Published
    from agenthard.flows.publishing.signature import Verified


def publish(
    run: Annotated[Path | None, typer.Argument(help="Run folder of an audit; not with --verify.")] = None,
    split: Annotated[
        Literal["clean", "hard", "repaired"],
        typer.Option(
            help="Split of the audit (clean), of `agenthard report` (hard), of `agenthard repair` (repaired)."
        ),
    ] = "clean",
    out: Annotated[Path | None, typer.Option(help="Folder to write; default: RUN/publication/SPLIT.")] = None,
    previous: Annotated[
        Path | None,
        typer.Option(help="Folder or manifest.json of the last publication; default: the one in --out, if any."),
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="Version to publish as; default: the one that follows from what changed.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set; default: SOURCE-SPLIT.")] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")
    ] = None,
    repair: Annotated[
        Path | None, typer.Option(help="Folder that `agenthard repair` wrote; default: RUN/repair.")
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(help="Ed25519 private key (PEM) that signs the manifest.", metavar="KEYFILE")
    ] = None,
    push: Annotated[
        str | None,
        typer.Option(
            help="Upload to this data set repository (OWNER/NAME) of the Hugging Face Hub, or of the hub that "
            "HF_ENDPOINT names. Nothing is uploaded without this option.",
            metavar="REPO",
        ),
    ] = None,
    verify: Annotated[
        Path | None, typer.Option(help="Check the files and the signature of a published folder instead.")
    ] = None,
    public_key: Annotated[
        Path | None, typer.Option(help="With --verify: the public key (PEM) that has to have signed it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Publish a split: the benchmark's own format, a Hugging Face data set, its removals, a version, a signature.

    Example: `agenthard publish demo-run/demo --split clean`
    """
    from agenthard.flows.errors import CommandError

    if (run is None) == (verify is None):
        raise CommandError("give either the run folder to publish a split of, or --verify with a published folder")
    if verify is not None:
        _verify(verify, public_key, as_json)
        return
    from agenthard.flows.publishing.publish import publish as publish_split
    from agenthard.flows.publishing.records import PublishSettings

    settings = PublishSettings(
        run=str(run),
        split=split,
        out=_text(out),
        previous=_text(previous),
        version=version,
        name=name,
        benchmark=_text(benchmark),
        repair=_text(repair),
        sign=_text(sign),
        push=push,
    )
    with error_console().status("publishing"):
        done = publish_split(settings)
    if as_json:
        print_json(done)
    else:
        _show(done)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _show(done: "Published") -> None:
    counts = done.counts
    if done.changed:
        typer.echo(f"{done.name} {done.version} ({done.level}): {'; '.join(done.changes)}")
    else:
        typer.echo(f"{done.name} {done.version}: nothing changed since this version was published")
    typer.echo(
        f"{counts['kept']:,} of {counts['total']:,} tasks; {counts['removed']:,} removed, {counts['under_review']:,} "
        f"under review, {counts['unchecked']:,} unchecked, {counts['unreadable']:,} records unreadable, "
        f"{counts['not_read']:,} tasks not read"
    )
    if done.do_not_compare_with:
        typer.echo(f"do not compare its scores with those of {', '.join(done.do_not_compare_with)}")
    if done.licence == "unknown":
        typer.echo("the release states no licence; find out whether you may pass its tasks on")
    typer.echo(f"\nfolder     {done.folder} ({done.files:,} files)\ncard       {Path(done.folder) / 'README.md'}")
    typer.echo(f"Inspect    {done.inspect or 'inspect eval inspect_task.py --model MODEL'}")
    typer.echo(f"signed     {done.key_id or 'no; --sign KEYFILE signs it'}")
    typer.echo(f"pushed     {done.pushed or 'no; --push OWNER/NAME uploads it'}")


def _verify(folder: Path, public_key: Path | None, as_json: bool) -> None:
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.publishing.signature import verify_folder

    found = verify_folder(folder, public_key)
    if as_json:
        print_json({**found.model_dump(mode="json"), "intact": found.intact})
    else:
        _show_verified(found)
    if not found.intact:
        raise typer.Exit(ExitCode.DEFECTS)


def _show_verified(found: "Verified") -> None:
    for what in ("damaged", "missing", "added"):
        for path in getattr(found, what):
            typer.echo(f"{what:<10} {path}")
    state = "intact" if found.intact else "not as it was published"
    typer.echo(f"{found.name} {found.version}: {state} ({found.files:,} files named by the manifest)")
    if found.problem:
        typer.echo(f"signature  {found.signature}: {found.problem}")
    elif found.signature == "absent":
        typer.echo("signature  absent: hashes show damage, and not who wrote them")
    elif found.key_known:
        typer.echo(f"signature  valid, with the given key {found.key_id}")
    else:
        typer.echo(f"signature  valid, with key {found.key_id}; --public-key FILE checks whose it is")
