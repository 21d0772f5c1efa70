"""Take a trained causal language model into the app: python -m tx_core.training.ship RUN/model assets/models/writer --data …

Copies the model, measures it as `evaluate` does, and writes its card. Everything after the two folders is of `evaluate`.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tx_core.engine.architectures import config_from_hub
from tx_core.engine.checkpoint_files import MANIFEST, read_config, read_json, write_manifest
from tx_core.training import evaluate
from tx_core.training.pretraining.export import model_card

SAME_TEXTS = """The texts are those of the embedded BERT: [its card](../embedded/README.md#data-and-licence) has the attribution
and licence of each source, and says how they were made into files.
"""
SHIPPED_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when the model is there with its card, else what `evaluate` returns."""
    source, folder, *options = sys.argv[1:] if words is None else words
    ship(Path(source), Path(folder))
    return evaluate.main([folder, "--card", *options])


def ship(source: Path, folder: Path) -> None:
    """Copy a model, with a manifest of its files and a card of how it was trained."""
    facts = read_json(source / MANIFEST).get("training", {}) | {"licences": SAME_TEXTS}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in SHIPPED_FILES:
        (folder / name).write_bytes((source / name).read_bytes())  # readable for all, whatever the source is
    write_manifest(folder, training=facts)
    card = model_card(config_from_hub(read_config(folder)), facts)
    (folder / evaluate.CARD).write_text(card, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
