"""Fetch a checkpoint from the model hub: safetensors and plain text files only, never code."""

from pathlib import Path

from tx_core.errors import ModelUnavailable

SAFE_FILES = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model"]


def fetch(hub_id: str, revision: str | None) -> Path:
    """Give the directory of a hub model: from the local cache if it is there, else from the hub.

    Raises ModelUnavailable when it is in neither, with what to do.
    """
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(huggingface_hub.snapshot_download(
            hub_id, revision=revision, allow_patterns=SAFE_FILES, local_files_only=True
        ))  # fmt: skip
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(huggingface_hub.snapshot_download(hub_id, revision=revision, allow_patterns=SAFE_FILES))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as unreachable:
        raise ModelUnavailable(
            f"{hub_id} could not be fetched from the model hub (no connection, a firewall, or no such model). "
            "The embedded model works without it; or fetch the model once where there is a connection."
        ) from unreachable
