"""Fine-tune a BERT to tell praise from blame in film reviews: python -m tx_core.training.fine_tune --data SNIPPETS --out RUN

SNIPPETS is a tab-separated file: number, mean rating from -4 to 4, sentence. Every matrix learns a difference of low rank
(Hu et al. 2021), so that little ships beside the model it began with. The model is written to RUN/model, which belongs beside
the model it began with; `--measure MODEL` counts what a model gets right on the test part, and writes it into its manifest.
"""

import argparse
import hashlib
import json
import math
import random
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.utils import parametrize

from tx_core.analysis.probabilities import wilson_interval
from tx_core.engine.architectures import config_to_hub, names_to_hub
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.checkpoint_files import MANIFEST, WEIGHTS, read_json, write_manifest
from tx_core.engine.tokenizer import Tokenizer, load_tokenizer
from tx_core.errors import ExplorerError
from tx_core.settings import ASSETS
from tx_core.training.classifier_model import split_words
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import Bert
from tx_core.transformer.config import BertConfig

TUNED_MODEL = ASSETS / "models" / "embedded"
OPINION_LABELS = ("negative", "positive")
CLEAR = 0.25
"""Sentences rated within this of 0 are neither praise nor blame: they are learned from, and not counted."""
HELD_OUT_SNIPPETS = 1500, 1000
"""Sentences for the test, on which nothing is chosen, and for the choice of settings."""


@dataclass(frozen=True)
class TuningSettings:
    """The settings of a training.

    rank: of the difference that each matrix learns; 0 to train the matrices themselves. masked: share of the tokens that are
    masked while it learns, so that no word alone decides. sharpness: how steeply the probability to learn rises with the rating.
    """

    rank: int = 16
    epochs: int = 5
    batch_size: int = 32
    rate: float = 1e-3
    masked: float = 0.15
    dropout: float = 0.1
    decay: float = 0.01
    sharpness: float = 1.5
    warm_up: int = 100
    seed: int = 0
    bfloat16: int = 0


class Snippet(NamedTuple):
    """A sentence and its mean rating, from -4 to 4."""

    text: str
    rating: float


class LowRank(nn.Module):
    """Adds a difference of low rank to a matrix, at first 0."""

    def __init__(self, rows: int, columns: int, rank: int):
        super().__init__()
        self.up = nn.Parameter(torch.zeros(rows, rank))
        self.down = nn.Parameter(torch.randn(rank, columns) / math.sqrt(columns))

    def forward(self, weight: Float[Tensor, "row column"]) -> Float[Tensor, "row column"]:
        return weight + self.up @ self.down


def read_snippets(file: Path) -> list[Snippet]:
    """Read rated sentences; raise ValueError for a line of another form."""
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    return [Snippet(text, float(rating)) for _, rating, text in rows]


def split_snippets(snippets: Sequence[Snippet]) -> tuple[list[Snippet], list[Snippet], list[Snippet]]:
    """Return sentences to learn from, to choose settings by, and to test on; the last two clearly rated."""
    drawn = random.Random(0).sample(snippets, len(snippets))
    clear = [one for one in drawn if abs(one.rating) > CLEAR][: sum(HELD_OUT_SNIPPETS)]
    test, choice = clear[: HELD_OUT_SNIPPETS[0]], clear[HELD_OUT_SNIPPETS[0] :]
    held = set(clear)
    return [one for one in drawn if one not in held], choice, test


def tunable_bert(base: Path, settings: TuningSettings) -> Bert:
    """Return a BERT with a new label head, of whose matrices only a difference of low rank is trained."""
    torch.manual_seed(settings.seed)
    trained = load_bert(base)
    model = Bert(replace(trained.config, dropout=settings.dropout), with_head=False, labels=len(OPINION_LABELS))
    for layer in (model.label_head.read.dense, model.label_head.label):
        nn.init.normal_(layer.weight, std=0.02)
        nn.init.zeros_(layer.bias)
    kept = {name: weight for name, weight in trained.state_dict().items() if not name.startswith("head.")}
    model.load_state_dict(kept, strict=False)
    for module in (*model.encoder.modules(), model.embeddings.words):
        if settings.rank and isinstance(module, nn.Linear | nn.Embedding):
            module.weight.requires_grad_(False)
            parametrize.register_parametrization(module, "weight", LowRank(*module.weight.shape, settings.rank))
    for kept_whole in (model.embeddings.positions, model.embeddings.segments):
        kept_whole.requires_grad_(False)
    return model


def label_logits(model: Bert, tokenizer: Tokenizer, texts: Sequence[str], masked: float = 0) -> Float[Tensor, "batch label"]:
    """Score the labels of texts, truncated to what the model reads. masked: share of the tokens after [CLS] to mask."""
    rows = [tokenizer.backend.encode(text).ids[: model.config.max_positions] for text in texts]
    ids = nn.utils.rnn.pad_sequence(list(map(torch.tensor, rows)), batch_first=True)
    ids[:, 1:].masked_fill_(torch.rand(ids[:, 1:].shape) < masked, tokenizer.mask_id)
    return model.label_head(model(ids, mask=padding_mask(list(map(len, rows))), places=(0,)).output)


def tune_bert(snippets: Sequence[Snippet], choice: Sequence[Snippet], base: Path, settings: TuningSettings) -> Bert:
    """Train, and print after every epoch what it gets right of the sentences to choose settings by."""
    model, tokenizer = tunable_bert(base, settings), load_tokenizer(base)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.rate, betas=(0.9, 0.98), weight_decay=settings.decay)
    batches = math.ceil(len(snippets) / settings.batch_size) * settings.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min((step + 1) / settings.warm_up, 1 - step / batches))
    for epoch in range(settings.epochs):
        torch.manual_seed(settings.seed + epoch)
        model.train()
        losses = []
        for batch in _batches(snippets, settings.batch_size, settings.seed + epoch):
            with torch.autocast("cpu", torch.bfloat16, enabled=bool(settings.bfloat16)):
                logits = label_logits(model, tokenizer, [one.text for one in batch], settings.masked)
            positive = torch.sigmoid(settings.sharpness * torch.tensor([one.rating for one in batch]))
            loss = nn.functional.cross_entropy(logits.float(), torch.stack([1 - positive, positive], dim=1))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        right = np.mean(given_labels(model, tokenizer, choice) == true_labels(choice)) if choice else math.nan
        print(f"epoch {epoch + 1}  loss {sum(losses) / len(losses):.4f}  right {right:.4f}", flush=True)
    return model.eval()


def _batches(snippets: Sequence[Snippet], size: int, seed: int) -> list[list[Snippet]]:
    """Cut sentences of about the same length into batches, in random order."""
    draw = random.Random(seed)
    order = sorted(snippets, key=lambda one: len(one.text) + draw.random() * 20)
    batches = [order[at : at + size] for at in range(0, len(order), size)]
    draw.shuffle(batches)
    return batches


def true_labels(snippets: Sequence[Snippet]) -> Int[np.ndarray, "snippet"]:
    """Return the label of each sentence: the number of one of OPINION_LABELS."""
    return np.array([int(one.rating > 0) for one in snippets])


@torch.no_grad()
def given_labels(model: Bert, tokenizer: Tokenizer, snippets: Sequence[Snippet]) -> Int[np.ndarray, "snippet"]:
    """Return the label that a model gives to each sentence."""
    model.eval()
    given, order = np.zeros(len(snippets), int), sorted(range(len(snippets)), key=lambda place: len(snippets[place].text))
    for at in range(0, len(order), 64):
        batch = order[at : at + 64]
        given[batch] = label_logits(model, tokenizer, [snippets[place].text for place in batch]).argmax(-1)
    return given


def export_difference(model: Bert, base: Path, directory: Path, facts: dict[str, Any]) -> Path:
    """Write what differs from the model it began with, in half precision and the hub's names, with its config and manifest."""
    directory.mkdir(parents=True, exist_ok=True)
    weights, started = {}, names_to_hub(BertConfig, load_bert(base).state_dict())
    for name, weight in model.state_dict().items():
        if name.endswith(".parametrizations.weight.original"):
            continue
        stem, _, part = name.partition(".parametrizations.weight.0.")
        hub = next(iter(names_to_hub(BertConfig, {f"{stem}.weight" if part else name: weight})))
        if part or hub not in started or not torch.equal(weight, started[hub]):
            weights[f"{hub}.{part}" if part else hub] = weight.detach().half().contiguous()
    save_file(weights, directory / WEIGHTS, metadata={"format": "pt"})
    sha256 = hashlib.sha256((base / WEIGHTS).read_bytes()).hexdigest()
    names = dict(enumerate(OPINION_LABELS))
    config = config_to_hub(replace(model.config, dropout=0.0)) | {
        "architectures": ["BertForSequenceClassification"],
        "id2label": names,
        "label2id": {name: number for number, name in names.items()},
        "difference_from": {"folder": base.name, "sha256": sha256},
    }
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(base / file, directory / file)
    write_manifest(directory, **facts)
    return directory


def measure_labels(model: Bert, tokenizer: Tokenizer, snippets: Sequence[Snippet]) -> dict[str, Any]:
    """Count what a model and naive Bayes get right on the test part, with the interval of the model's share."""
    learned, _, test = split_snippets(snippets)
    truth, given, counted = true_labels(test), given_labels(model, tokenizer, test), naive_bayes(learned, test)
    confusion = np.zeros((2, 2), int)
    np.add.at(confusion, (truth, given), 1)
    right, words = given == truth, counted == truth
    only = int((right & ~words).sum()), int((words & ~right).sum())
    return {
        "sentences": len(test),
        "right": int(right.sum()),
        "accuracy": round(float(right.mean()), 4),
        "interval": [round(edge, 4) for edge in wilson_interval(float(right.mean()), len(test))],
        "confusion": confusion.tolist(),
        "naive_bayes": round(float(words.mean()), 4),
        "only_model_and_only_naive_bayes_right": only,
        "mcnemar_p": round(mcnemar(*only), 4),
        "always_one_label": round(float(max(truth.mean(), 1 - truth.mean())), 4),
    }


def mcnemar(one: int, other: int) -> float:
    """Return the probability of counts at least as uneven by chance alone, where both methods are as good (McNemar 1947, exact).

    one, other: the sentences that only the one, and only the other, labels correctly.
    """
    total = one + other
    return min(1.0, 2 * sum(math.comb(total, count) for count in range(min(one, other) + 1)) / 2**total)


def naive_bayes(learned: Sequence[Snippet], test: Sequence[Snippet]) -> Int[np.ndarray, "snippet"]:
    """Return the label that naive Bayes on words and pairs of words, each counted once a sentence, gives to each sentence."""

    def features(text: str) -> set[tuple[str, ...]]:
        words = split_words(text)
        return {*((word,) for word in words), *pairwise(words)}

    counts: tuple[Counter, Counter] = Counter(), Counter()
    sentences = [0, 0]
    for one in learned:
        if abs(one.rating) > CLEAR:
            sentences[one.rating > 0] += 1
            counts[one.rating > 0].update(features(one.text))

    def odds(text: str) -> float:
        seen = (feature for feature in features(text) if any(feature in of_label for of_label in counts))
        start = math.log(sentences[1] / sentences[0])
        scale = [label + 2 for label in sentences]
        return start + sum(math.log((counts[1][one] + 1) / scale[1] * scale[0] / (counts[0][one] + 1)) for one in seen)

    return np.array([int(odds(one.text) > 0) for one in test])


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when done, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="fine_tune", description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="file of rated sentences")
    parser.add_argument("--base", type=Path, default=TUNED_MODEL, help="folder of the model to begin with")
    parser.add_argument("--out", type=Path, help="folder of the training")
    parser.add_argument("--measure", type=Path, help="folder of a fine-tuned model to measure")
    for name, value in asdict(TuningSettings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = vars(parser.parse_args(argv))
    data, base, out, measured = (given.pop(name) for name in ("data", "base", "out", "measure"))
    if (out is None) == (measured is None):
        parser.error("name either --out or --measure")
    try:
        snippets = read_snippets(data)
        if out:
            settings = TuningSettings(**given)
            learned, choice, _ = split_snippets(snippets)
            model = tune_bert(learned, choice, base, settings)
            facts = asdict(settings) | {"data": hashlib.sha256(data.read_bytes()).hexdigest()}
            print(f"written to {export_difference(model, base, out / 'model', {'training': facts})}: copy it beside {base}")
        else:
            engine = load_own_engine(measured, measured.name, measured.name)
            found = measure_labels(engine.model, engine.tokenizer, snippets)
            training = read_json(measured / MANIFEST).get("training")
            write_manifest(measured, training=training, measured=found)
            print(json.dumps(found))
    except (ExplorerError, OSError, ValueError) as problem:
        print(f"fine_tune: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
