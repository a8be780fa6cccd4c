"""Uploading a publication to a data set repository of a Hugging Face hub, with its own client."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.publishing.records import MANIFEST, SIGNATURE, Publication
from agenthard.taxonomy.errors import MissingExtraError

_OF_THE_HUB = ".gitattributes"
"""The file that a hub keeps in each repository."""
_REFUSED = (401, 403, 404)


def require_token() -> str:
    """Return the token of the hub.

    Raises:
        CommandError: there is none.
        MissingExtraError: the extra ``publish`` is not installed.
    """
    try:
        from huggingface_hub import get_token
    except ModuleNotFoundError as error:
        raise MissingExtraError("--push", "publish") from error
    token = get_token()
    if not token:
        raise CommandError(
            "--push: no token of a Hugging Face hub; set HF_TOKEN to one that may write, or run `hf auth login`"
        )
    return token


def push_folder(folder: Path, repository: str, made: Publication, token: str) -> str:
    """Upload a publication in one commit, and tag it with the version.

    What an earlier version had and this one does not is deleted in the same commit, so that no reader sees half of a
    version. The repository is made if it is not there. The address of the hub is that of ``HF_ENDPOINT``.

    Args:
        folder: the publication.
        repository: OWNER/NAME.
        made: its manifest.
        token: token that may write.

    Returns:
        Address of the data set at this version.

    Raises:
        CommandError: the hub refuses the repository or the token.
        InfrastructureError: the hub cannot be reached, or fails.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api, tag = HfApi(endpoint=constants.ENDPOINT, token=token), f"v{made.version}"
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        api.create_commit(
            repository,
            list(_operations(api, folder, repository, made)),
            repo_type="dataset",
            commit_message=f"{made.name} {made.version}",
        )
        api.create_tag(repository, repo_type="dataset", tag=tag, exist_ok=True)
    except HFValidationError as error:
        raise CommandError(f"--push {repository}: {error}") from error
    except HfHubHTTPError as error:
        told = " ".join(str(error).split())[:300]
        if error.response is not None and error.response.status_code in _REFUSED:
            raise CommandError(
                f"--push {repository}: the hub refuses it ({told}); the token has to be allowed to write there"
            ) from error
        raise InfrastructureError(f"--push {repository}: the hub failed ({told}); run the command again") from error
    except (OSError, HTTPError) as error:
        raise InfrastructureError(
            f"--push {repository}: {constants.ENDPOINT} cannot be reached ({error}); run the command again"
        ) from error
    return f"{constants.ENDPOINT}/datasets/{repository}/tree/{tag}"


def _operations(api: Any, folder: Path, repository: str, made: Publication) -> Iterator[Any]:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    signature = [SIGNATURE] if (folder / SIGNATURE).is_file() else []
    paths = [*(file.path for file in made.files), MANIFEST, *signature]
    for path in paths:
        yield CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path)
    for path in sorted(set(api.list_repo_files(repository, repo_type="dataset")) - {*paths, _OF_THE_HUB}):
        yield CommitOperationDelete(path_in_repo=path)
