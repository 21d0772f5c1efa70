"""Download checkpoints from the Hugging Face hub: safetensors and text files only, never code."""

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import HTTPError, LocalEntryNotFoundError
from huggingface_hub.utils import filter_repo_objects

from tx_core.errors import ModelUnavailable
from tx_core.settings import ASSETS, host_settings

CATALOGUE = ASSETS / "models" / "catalogue.json"
SAFE_FILES = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model"]
COMMIT = re.compile(r"[0-9a-f]{40}")
PROBE_SECONDS = 3
MIN_FREE_BYTES = 500_000_000
"""Disk space that a download must leave free."""
TOO_LARGE_FOR_MEMORY = (
    "{title} takes {megabytes:,.0f} MB of memory, and this server has {limit:,.0f} MB for models: choose a smaller model."
)
NOT_FETCHED = (
    "{hub_id} could not be fetched from the model hub. Either the server has no connection to the hub, or the model does not "
    "exist or has no safetensors files. The built-in models need no connection. Whoever runs this server can bring the model "
    "from a machine that reaches the hub, as a folder or as the hub's cache:\n"
    "hf download {hub_id}{version} --local-dir models/{folder} (start the app with TX_MODELS_DIR=models and choose “{folder} "
    "(local)”)\n"
    "HF_HOME=hub hf download {hub_id}{version} (start the app with HF_HOME=hub)"
)
"""Why there is no model, and how to have it: two lines."""
NO_SPACE_FOR_DOWNLOAD = (
    "{hub_id} is a download of {megabytes:,.0f} MB, and this server has space for {space:,.0f} MB: choose a smaller model, or "
    "one that is here already."
)


def fetch(hub_id: str, revision: str | None) -> Path:
    """Return the directory of a hub model, downloading the model if the local cache does not have all of it.

    Raises ModelUnavailable if the model is not cached and cannot be downloaded, or there is no space for it.
    """
    try:
        directory = _snapshot(hub_id, revision, local_files_only=True)
        if directory is None:
            # Without a connection this request fails at once; snapshot_download retries a pinned commit for 23 s.
            check_space(hub_id, huggingface_hub.HfApi().model_info(hub_id, revision=revision, timeout=10, files_metadata=True))
            directory = _snapshot(hub_id, revision)
    except (HTTPError, OSError, ValueError) as error:
        raise _unavailable(hub_id, revision) from error
    if directory is None:
        raise _unavailable(hub_id, revision)
    return directory


def check_space(hub_id: str, info: "huggingface_hub.ModelInfo") -> None:
    """Check before a download, by the sizes that the hub reports, that a model fits into memory and onto the disk.

    Raises ModelUnavailable if it does not.
    """
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    wanted = {name: sizes[name] for name in filter_repo_objects(sizes, allow_patterns=SAFE_FILES)}
    weights = sum(size for name, size in wanted.items() if name.endswith(".safetensors"))
    limits = host_settings()
    if weights > limits.max_model_megabytes * 1e6:
        raise ModelUnavailable(
            TOO_LARGE_FOR_MEMORY.format(title=hub_id, megabytes=weights / 1e6, limit=limits.max_model_megabytes)
        )
    # What is here of a download that another visitor has begun, or that was interrupted, needs no space once more.
    begun = _bytes_of(Path(constants.HF_HUB_CACHE, f"models--{hub_id.replace('/', '--')}", "blobs").glob("*.incomplete"))
    space = begun + space_for_downloads()
    if sum(wanted.values()) > space:
        megabytes = sum(wanted.values()) / 1e6
        raise ModelUnavailable(NO_SPACE_FOR_DOWNLOAD.format(hub_id=hub_id, megabytes=megabytes, space=space / 1e6))


def space_for_downloads() -> int:
    """Return how many bytes may be downloaded: the host's limit minus the cache's size, at most what the disk has free."""
    cache = Path(constants.HF_HUB_CACHE)
    folder = next(path for path in (cache, *cache.parents) if path.exists())
    stored = _bytes_of(cache.glob("models--*/blobs/*"))
    allowed = host_settings().max_download_megabytes * 1_000_000 - stored
    return max(0, min(allowed, shutil.disk_usage(folder).free - MIN_FREE_BYTES))


def _bytes_of(files: Iterable[Path]) -> int:
    total = 0
    for file in files:
        with suppress(FileNotFoundError):  # of a download that has just ended
            total += file.stat().st_size
    return total


def is_cached(hub_id: str, revision: str | None) -> bool:
    """Return whether the local cache has the settings and the weights of a hub model, without a network request."""
    settings = huggingface_hub.try_to_load_from_cache(hub_id, "config.json", revision=revision)
    return isinstance(settings, str) and any(Path(settings).parent.glob("*.safetensors"))


def reaches_hub(hub_id: str) -> bool:
    """Return whether the hub answers a request within a few seconds. Do not call it while a page waits."""
    try:
        huggingface_hub.HfApi().model_info(hub_id, timeout=PROBE_SECONDS)
    except (HTTPError, OSError, ValueError):
        return False
    return True


def cached_commit(hub_id: str) -> str | None:
    """Return the commit of the newest version of a hub model in the local cache, None if it holds none."""
    directory = _snapshot(hub_id, None, local_files_only=True)
    return directory.name if directory and COMMIT.fullmatch(directory.name) else None


def _snapshot(hub_id: str, revision: str | None, *, local_files_only: bool = False) -> Path | None:
    """Return the model's directory, or None if it lacks the settings or the weights.

    Another program may have cached the settings alone, and snapshot_download returns that directory, too.
    """
    try:
        directory = Path(
            huggingface_hub.snapshot_download(
                hub_id, revision=revision, allow_patterns=SAFE_FILES, local_files_only=local_files_only
            )
        )
    except LocalEntryNotFoundError:
        return None
    return directory if (directory / "config.json").exists() and any(directory.glob("*.safetensors")) else None


def _unavailable(hub_id: str, revision: str | None) -> ModelUnavailable:
    version = f" --revision {revision}" if revision else ""
    return ModelUnavailable(NOT_FETCHED.format(hub_id=hub_id, version=version, folder=hub_id.rpartition("/")[2]))
