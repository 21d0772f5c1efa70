"""A model under test: log-probabilities at masked positions, attention weights, hidden states."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tensors import batch_tensors
from tx_core.engine.tokenizer import Tokenizer, load_tokenizer
from tx_core.transformer.bert import Bert
from tx_core.transformer.trace import Encoding

PROBE_TOKENS_AT_ONCE = 4096


class ProbeRow(NamedTuple):
    """A text as ids with [CLS] and [SEP], and the positions to predict."""

    ids: tuple[int, ...]
    places: tuple[int, ...]


class Probe:
    """Our own BERT under test."""

    def __init__(self, model: Bert, tokenizer: Tokenizer, device: str = "cpu"):
        self.model, self.tokenizer, self.device = model.to(device).eval(), tokenizer, device

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return self.model.config.max_positions

    @property
    def has_head(self) -> bool:
        """Whether the model has a masked-word head, which `log_probabilities` needs."""
        return self.model.head is not None

    @torch.inference_mode()
    def log_probabilities(self, rows: Sequence[ProbeRow]) -> Float[Tensor, "place vocab"]:
        """Return the log-probability of every piece at the positions of all rows, concatenated."""
        ids, segments, mask = batch_tensors([_encoding(row) for row in rows], self.tokenizer.padding_id, self.device)
        output = self.model(ids, segments, mask).output
        row = [number for number, row in enumerate(rows) for _ in row.places]
        place = [place for row in rows for place in row.places]
        return self.model.predict(output[row, place]).float().log_softmax(dim=-1).cpu()

    @torch.inference_mode()
    def weights(self, ids: Sequence[int]) -> Float[Tensor, "layer head query key"]:
        """Return the attention weights of all heads for one text."""
        run = self.model(torch.tensor([list(ids)], device=self.device), keep=("weights",))
        return torch.cat([layer["weights"] for layer in run.layers]).cpu()

    @torch.inference_mode()
    def hidden(self, ids: Sequence[int]) -> Float[Tensor, "layer_and_embeddings token hidden"]:
        """Return the vectors after the embeddings and after each layer for one text."""
        return torch.cat(self.model(torch.tensor([list(ids)], device=self.device), keep=("hidden",)).hidden).cpu()


def load_probe(checkpoint: Path, device: str = "cpu") -> Probe:
    """Load a checkpoint directory to be measured; raises CheckpointProblem when it cannot be."""
    model = load_bert(checkpoint)
    return Probe(model, load_tokenizer(checkpoint, model.config.vocab_size), device)


def in_batches(rows: Sequence[ProbeRow]) -> Iterator[tuple[list[int], list[ProbeRow]]]:
    """Group rows of similar length: their numbers, and the rows, at most `TOKENS_AT_ONCE` tokens together."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].ids))
    group: list[int] = []
    for number in order:
        if group and len(rows[number].ids) * (len(group) + 1) > PROBE_TOKENS_AT_ONCE:
            yield group, [rows[n] for n in group]
            group = []
        group.append(number)
    if group:
        yield group, [rows[n] for n in group]


def _encoding(row: ProbeRow) -> Encoding:
    """Wrap ids in an Encoding; only ids, segments and blanks are used."""
    one_segment = (0,) * len(row.ids)
    return Encoding("", None, row.ids, (), one_segment, (), (), (), row.places, ())
