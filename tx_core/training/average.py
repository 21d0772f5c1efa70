"""Average the weights of related models: python -m tx_core.training.average FIRST SECOND … --out MEAN --shares 0.65 0.35

Between a model and its further trained version, or between runs from the same weights, the loss is often lower than that of any
(Izmailov et al. 2018; Wortsman et al. 2022). The embedded model and that of film reviews are such means.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from tx_core.engine.checkpoint import read_tensors
from tx_core.engine.checkpoint_files import MANIFEST, WEIGHTS, read_config, read_json, write_manifest
from tx_core.errors import ExplorerError


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when written, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="average", description=__doc__)
    parser.add_argument("models", type=Path, nargs="+", help="folders of models")
    parser.add_argument("--out", type=Path, required=True, help="folder for the mean")
    parser.add_argument("--shares", type=float, nargs="+", help="what each counts for; without it, all alike")
    options = parser.parse_args(argv)
    try:
        average(options.models, options.out, options.shares or [1 / len(options.models)] * len(options.models))
    except (ExplorerError, OSError, ValueError) as problem:
        print(f"average: {problem}", file=sys.stderr)
        return 2
    print(f"model written to {options.out}")
    return 0


def average(models: Sequence[Path], out: Path, shares: Sequence[float]) -> None:
    """Write the weighted mean of models, in half precision, with the other files of the last and the manifests of all.

    The mean of differences of low rank is one: of all their columns beside each other, and all their rows below each other.

    Raises ValueError for shares that do not fit, and models that differ in size, vocabulary or what they began with;
    CheckpointProblem if one cannot be read.
    """
    if len(shares) != len(models) or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"there must be a share above 0 for each model, 1 in all, got {shares}")
    about = [(read_config(model), (model / "tokenizer.json").read_bytes()) for model in models]
    if any(one != about[0] for one in about):
        raise ValueError("the models differ in size, vocabulary or what they began with: they have no mean")
    read = [read_tensors(model) for model in models]
    weights = {}
    for name in read[0]:
        parts = [tensors[name].float() for tensors in read]
        if name.endswith(".down"):
            mean = torch.vstack(parts)
        else:
            scaled = [share * part for share, part in zip(shares, parts, strict=True)]
            mean = torch.hstack(scaled) if name.endswith(".up") else torch.stack(scaled).sum(0)
        weights[name] = mean.half().contiguous()
    manifests = [read_json(model / MANIFEST) for model in models]
    shutil.copytree(models[-1], out, dirs_exist_ok=True)
    save_file(weights, out / WEIGHTS, metadata={"format": "pt"})
    write_manifest(out, training={"shares": list(shares), "mean_of": manifests})


if __name__ == "__main__":
    sys.exit(main())
