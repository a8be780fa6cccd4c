"""Uploading a publication to a data set repository of a Hugging Face hub, with its own client."""

from pathlib import Path

from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.publishing.records import Publication
from agenthard.taxonomy.errors import MissingExtraError


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
    """Upload a publication in one commit, and name the commit by the version.

    What an earlier version had and this one does not is deleted in the same commit. The repository is made if it is not
    there. The address of the hub is that of ``HF_ENDPOINT``.

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
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi(endpoint=constants.ENDPOINT, token=token)
    tag = f"v{made.version}"
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        api.upload_folder(
            repo_id=repository,
            repo_type="dataset",
            folder_path=folder,
            commit_message=f"{made.name} {made.version}",
            delete_patterns="*",
        )
        api.create_tag(repository, repo_type="dataset", tag=tag, exist_ok=True)
    except HFValidationError as error:
        raise CommandError(f"--push {repository}: {error}") from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        told = " ".join(str(error).split())[:300]
        if status in (401, 403, 404):
            raise CommandError(
                f"--push {repository}: the hub refuses it ({told}); the token has to be allowed to write there"
            ) from error
        raise InfrastructureError(
            f"--push {repository}: the hub failed ({told}); run the same command again"
        ) from error
    except OSError as error:
        raise InfrastructureError(
            f"--push {repository}: {constants.ENDPOINT} cannot be reached ({error}); run the same command again"
        ) from error
    return f"{constants.ENDPOINT}/datasets/{repository}/tree/{tag}"
