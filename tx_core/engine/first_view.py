"""A stand-in for the built-in model until it is loaded: a tokenizer and one stored run. Imports no torch.

Importing torch is the slowest part of a start, and the first page need not wait for it.
`python -m tx_core.engine.first_view` stores the run of the first example again, with the current checkpoint.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float

from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import MANIFEST, read_config, read_json
from tx_core.engine.engine import Engine, ModelInfo, RunRequest, bert_info, encode_text, run_text
from tx_core.engine.tokenizer import Tokenizer, load_tokenizer
from tx_core.errors import CheckpointProblem
from tx_core.transformer.config import bert_config_from_hub
from tx_core.transformer.trace import AttentionStack, Trace

DIRECTORY = catalogue.MODELS / catalogue.DEFAULT
FIRST_RUN = DIRECTORY / "first_run.npz"
FIRST_EXAMPLES = catalogue.MODELS.parent / "examples" / "attention.json"


@dataclass(frozen=True)
class AwaitedEngine:
    """The built-in model while it is being loaded: it returns the stored run, and waits for the model for anything else.

    Attributes:
        text: the sentence whose run is stored.
        weights: its attention weights.
    """

    name: str
    title: str
    info: ModelInfo
    tokenizer: Tokenizer
    text: str
    weights: Float[np.ndarray, "layer head query key"]

    @property
    def device(self) -> str:
        """The device that computes; "" until the model had to be waited for."""
        return self.loaded.device if "loaded" in vars(self) else ""

    @cached_property
    def loaded(self) -> Engine:
        """The model itself."""
        return catalogue.load(self.name, special_tokens=self.tokenizer.special_tokens)

    encode, trace = encode_text, run_text

    def run(self, request: RunRequest) -> Trace:
        """Return the stored run for its text without options; otherwise run the model."""
        is_stored = request.text == self.text and not request.pair and self.tokenizer.special_tokens
        if not is_stored or set(request.keep) != {"weights"} or request.interventions:
            return self.loaded.run(request)
        encoding = self.encode(request.text)
        return Trace(self.name, "cpu", (AttentionStack("self", encoding, encoding, self.weights),))

    def __getattr__(self, name: str) -> object:
        """Delegate everything else to the loaded model."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.loaded, name)


@cache
def awaited_engine() -> AwaitedEngine | None:
    """Return the stand-in for the built-in model; None if the stored run is missing or from another checkpoint."""
    try:
        # From bytes: np.load leaves a truncated file open if it is given a path.
        with np.load(BytesIO(FIRST_RUN.read_bytes())) as file:
            checkpoint, text, weights = str(file["checkpoint"]), str(file["text"]), file["weights"]
        if checkpoint != _checkpoint_hash():
            return None
        config = bert_config_from_hub(read_config(DIRECTORY))
        tokenizer = load_tokenizer(DIRECTORY, config.vocab_size)
    except (OSError, EOFError, KeyError, ValueError, BadZipFile, CheckpointProblem):
        return None
    weights.flags.writeable = False
    title = catalogue.card(catalogue.DEFAULT).title
    return AwaitedEngine(catalogue.DEFAULT, title, bert_info(config, True, tokenizer), tokenizer, text, weights)


def _checkpoint_hash() -> str:
    """Return the identity of the checkpoint: a hash of the hashes of its files."""
    files = {name: entry["sha256"] for name, entry in read_json(DIRECTORY / MANIFEST)["files"].items()}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def write(file: Path) -> None:
    """Run the first example through the built-in model, and write its attention weights."""
    text = json.loads(FIRST_EXAMPLES.read_text("utf-8"))[0]["text"]
    weights = catalogue.load(catalogue.DEFAULT).trace(text).attention.weights
    np.savez_compressed(file, checkpoint=_checkpoint_hash(), text=text, weights=weights)


def main(arguments: list[str]) -> int:
    """Write the file; return the exit status: 2 for wrong usage."""
    if arguments:
        print("usage: python -m tx_core.engine.first_view")
        return 2
    write(FIRST_RUN)
    print(f"{FIRST_RUN.name} was written.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
