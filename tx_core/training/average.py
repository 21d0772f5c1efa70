"""Average the weights of two related models: python -m tx_core.training.average FIRST SECOND --out MEAN --share 0.35

Between a model and its further trained version, or between two runs from the same weights, the loss is often lower than that of
either (Izmailov et al. 2018; Wortsman et al. 2022). The embedded model is such a mean.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from tx_core.engine.checkpoint import load_bert
from tx_core.engine.checkpoint_files import MANIFEST, WEIGHTS, read_json
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import ExplorerError
from tx_core.training.pretraining.export import export_checkpoint


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when written, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="average", description=__doc__)
    parser.add_argument("first", type=Path, help="folder of a model")
    parser.add_argument("second", type=Path, help="folder of the other")
    parser.add_argument("--out", type=Path, required=True, help="folder for the mean")
    parser.add_argument("--share", type=float, default=0.5, help="what the second counts for, from 0 to 1")
    options = parser.parse_args(argv)
    try:
        average(options.first, options.second, options.out, options.share)
    except (ExplorerError, ValueError) as problem:
        print(f"average: {problem}", file=sys.stderr)
        return 2
    print(f"model written to {options.out}")
    return 0


def average(first: Path, second: Path, out: Path, share: float) -> Path:
    """Write the weighted mean of two models, with the second's tokenizer and, in the manifest, both origins.

    The second's measurements are omitted, since they do not hold for the mean.

    Raises:
        ValueError: If `share` is not in [0, 1], or the models differ in size or vocabulary.
        CheckpointProblem: If a model cannot be read.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    one, other = load_bert(first), load_bert(second)
    backend = load_tokenizer(second).backend
    if one.config != other.config or backend.to_str() != load_tokenizer(first).backend.to_str():
        raise ValueError("the two models differ in size or vocabulary.")
    before = one.state_dict()
    weights = {name: before[name].lerp(after, share) for name, after in other.state_dict().items()}
    facts = dict(read_json(second / MANIFEST).get("training", {}))
    facts.pop("held_out", None)
    parents = [hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest() for folder in (first, second)]
    return export_checkpoint(
        out, other.config, weights, backend, facts | {"averaged": {"weights": parents, "share_of_the_second": share}}
    )


if __name__ == "__main__":
    sys.exit(main())
