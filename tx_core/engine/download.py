"""Fetch a checkpoint from the model hub: safetensors and plain text files only, never code.

`python -m tx_core.engine.download pin` writes the hub's current commit of each model into the catalogue.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from tx_core.errors import ModelUnavailable

CATALOGUE = Path(__file__).parents[2] / "assets" / "models" / "catalogue.json"
SAFE_FILES = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model"]
COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(hub_id: str, revision: str | None) -> Path:
    """Give the directory of a hub model: from the local cache if it is whole there, else from the hub.

    Raises ModelUnavailable when it is in neither, with what to do.
    """
    import huggingface_hub
    from huggingface_hub.errors import HTTPError

    try:
        directory = _snapshot(hub_id, revision, local_files_only=True)
        if directory is None:
            # The download itself retries for 23 s before it gives a pinned commit up; this fails at once.
            huggingface_hub.HfApi().model_info(hub_id, revision=revision, timeout=10)
            directory = _snapshot(hub_id, revision)
    except (HTTPError, OSError, ValueError) as refused:
        raise _unreachable(hub_id) from refused
    if directory is None:
        raise _unreachable(hub_id)
    return directory


def _snapshot(hub_id: str, revision: str | None, *, local_files_only: bool = False) -> Path | None:
    """Give the model's directory, or None where it is not there with settings and weights.

    The library hands back what another program left in the cache, be it the settings alone.
    """
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        directory = Path(
            huggingface_hub.snapshot_download(
                hub_id, revision=revision, allow_patterns=SAFE_FILES, local_files_only=local_files_only
            )
        )
    except LocalEntryNotFoundError:
        return None
    return directory if (directory / "config.json").exists() and any(directory.glob("*.safetensors")) else None


def _unreachable(hub_id: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{hub_id} could not be fetched from the model hub as safetensors (no connection, a firewall, no such model, "
        "or it has none). The embedded model works without it; or fetch the model once where there is a connection."
    )


def pin(catalogue: Path, hub: Any) -> dict[str, str | None]:
    """Write the hub's current commit of each model into the catalogue; give them, None where the hub told none.

    hub: answers `model_info(hub_id).sha`, as huggingface_hub.HfApi does. A model without an answer
    keeps what it had; where none got one, the file is left untouched.
    """
    entries = json.loads(catalogue.read_text(encoding="utf-8"))
    commits = {entry["name"]: _commit(hub, entry["hub_id"]) for entry in entries if "hub_id" in entry}
    if any(commits.values()):
        for entry in entries:
            if commit := commits.get(entry["name"]):
                entry["revision"] = commit
        lines = ",\n ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        catalogue.write_text(f"[\n {lines}\n]\n", encoding="utf-8")
    return commits


def _commit(hub: Any, hub_id: str) -> str | None:
    from huggingface_hub.errors import HTTPError

    try:
        commit = hub.model_info(hub_id).sha
    except (HTTPError, OSError, ValueError):
        return None
    return commit if COMMIT.fullmatch(commit or "") else None


def main(arguments: list[str]) -> int:
    """Run this module's command and say what it did; give its exit status, 1 where a commit is missing."""
    if arguments != ["pin"]:
        print("usage: python -m tx_core.engine.download pin")
        return 2
    from huggingface_hub import HfApi

    commits = pin(CATALOGUE, HfApi())
    for name, commit in commits.items():
        print(f"{name}: {commit or 'the hub did not answer; left as it was'}")
    print(f"{CATALOGUE.name} is {'written' if any(commits.values()) else 'untouched'}.")
    return 0 if all(commits.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
