"""The mean of the weights of two models that went one way: python -m tx_core.training.average FIRST SECOND --out RUN

Two models of which one was trained on from the other lie in one valley, and between them the loss is often lower than at
either end (Izmailov et al. 2018; Wortsman et al. 2022).
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from tx_core.checkpoint import MANIFEST, WEIGHTS, load_bert, write_manifest
from tx_core.errors import ExplorerError


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; give the exit status: 0 when written, 2 when something must be put right first."""
    parser = argparse.ArgumentParser(prog="average", description=__doc__)
    parser.add_argument("first", type=Path, help="folder of a model")
    parser.add_argument("second", type=Path, help="folder of the model that was trained on from it")
    parser.add_argument("--out", type=Path, required=True, help="folder for the mean")
    parser.add_argument("--share", type=float, default=0.5, help="what the second counts for, from 0 to 1")
    given = parser.parse_args(words)
    try:
        average(given.first, given.second, given.out, given.share)
    except (ExplorerError, ValueError) as problem:
        print(f"average: {problem}", file=sys.stderr)
        return 2
    print(f"model written to {given.out}")
    return 0


def average(first: Path, second: Path, out: Path, share: float = 0.5) -> Path:
    """Write the second model with its weights moved towards the first; its manifest says so.

    Raises ValueError where `share` leaves [0, 1], the models differ in sizes or words or `out` holds something, and
    CheckpointProblem for a model that cannot be read.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    if out.exists():
        raise ValueError(f"{out} is there already: name a folder that is not.")
    if load_bert(first).config != load_bert(second).config:
        raise ValueError(
            "the two models differ in their sizes: only models of which one was trained on from the other have a mean."
        )
    if (first / "tokenizer.json").read_bytes() != (second / "tokenizer.json").read_bytes():
        raise ValueError("the two models differ in their vocabulary: the same row would mean two words.")
    shutil.copytree(second, out)
    one, other = load_file(first / WEIGHTS), load_file(second / WEIGHTS)
    mean = {name: one[name].float().lerp(other[name].float(), share).to(other[name].dtype) for name in other}
    save_file(mean, out / WEIGHTS, metadata={"format": "pt"})
    told = [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in (first, second)]
    parents = [one["files"][WEIGHTS]["sha256"] for one in told]
    write_manifest(out, training=told[1]["training"] | {"averaged": {"weights": parents, "share_of_the_second": share}})
    return out


if __name__ == "__main__":
    sys.exit(main())
