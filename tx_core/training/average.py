"""Average the weights of two related models: python -m tx_core.training.average FIRST SECOND --out RUN

Between a model and its further trained version, or between two versions of one model, the loss is often lower than that of
either (Izmailov et al. 2018; Wortsman et al. 2022). `python -m tx_core.training.evaluate` measures whether it is.
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
from tx_core.training.pretraining.deepen import deepen_model, new_blocks
from tx_core.training.pretraining.export import export_checkpoint


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when written, 2 for bad input."""
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


def average(first: Path, second: Path, out: Path, share: float) -> Path:
    """Write the weighted mean of two models, with the second's tokenizer; card and manifest record its origin.

    The second's measurements are omitted, since they do not hold for the mean. Blocks that only the second has are copied.

    Raises:
        ValueError: If `share` is not in [0, 1], or the models differ in size or vocabulary.
        CheckpointProblem: If a model cannot be read.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    one, other = load_bert(first), load_bert(second)
    layers, added = other.config.num_layers, ()
    if one.config.num_layers < layers:
        added = new_blocks(one.config.num_layers, layers)
        one = deepen_model(one, layers)
    if one.config != other.config or one.state_dict().keys() != other.state_dict().keys():
        raise ValueError("the two models differ in their sizes: only a model and what it became have a mean.")
    vocabulary = load_tokenizer(second).backend
    if vocabulary.to_str() != load_tokenizer(first).backend.to_str():
        raise ValueError("the two models differ in their vocabulary: the same row would mean two words.")
    before, copied = one.state_dict(), tuple(f"encoder.blocks.{place}." for place in added)
    weights = {
        name: after if name.startswith(copied) else before[name].lerp(after, share) for name, after in other.state_dict().items()
    }
    facts = dict(read_json(second / MANIFEST).get("training", {}))
    facts.pop("held_out", None)
    parents = [hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest() for folder in (first, second)]
    facts["averaged"] = {"weights": parents, "share_of_the_second": share}
    return export_checkpoint(out, other.config, weights, vocabulary, facts)


if __name__ == "__main__":
    sys.exit(main())
