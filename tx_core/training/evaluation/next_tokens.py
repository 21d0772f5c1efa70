"""Predictions of every next token by a causal language model: on held-out texts, and the probability of whole sentences."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.masked_words import MAX_HELD_OUT_WORDS, HeldOut, sample_evenly
from tx_core.training.pretraining.vocabulary import CLS_ID, PAD_ID, SEP_ID
from tx_core.transformer.causal_lm import CausalLM

SCORED_AT_ONCE = 2048


class Scored(NamedTuple):
    """The log-probability of each token of a text after the first, and whether it was the first guess."""

    log_probabilities: Float[Tensor, "token"]
    first: Bool[Tensor, "token"]


def measure_next_tokens(
    model: CausalLM, tokenizer: Tokenizer, device: str, files: Sequence[Path], most_lines: int
) -> dict[str, HeldOut]:
    """Predict every token of each text, [SEP] at its end included; "all" sums up every source. exp(loss) is the perplexity."""
    sums: dict[str, tuple[float, int, int, int]] = {}
    for file in files:
        lines = sample_evenly(file.read_text(encoding="utf-8").splitlines(), most_lines)
        texts = [" ".join(line.split()[:MAX_HELD_OUT_WORDS]) for line in lines]
        scored = list(score_tokens(model, tokenizer, device, texts))
        nats = -sum(float(text.log_probabilities.sum()) for text in scored)
        words = sum(len(text.split()) for text in texts)
        sums[file.stem] = (nats, sum(int(s.first.sum()) for s in scored), sum(len(s.first) for s in scored), words)
    sums["all"] = tuple(sum(column) for column in zip(*sums.values(), strict=True))
    return {
        source: HeldOut(nats / pieces, right / pieces, nats / words, pieces, words)
        for source, (nats, right, pieces, words) in sums.items()
        if pieces
    }


def log_likelihoods(model: CausalLM, tokenizer: Tokenizer, device: str, sentences: Sequence[str]) -> list[float]:
    """Return the log-probability of each sentence, its end included. A sentence that is too long is truncated."""
    return [float(text.log_probabilities.sum()) for text in score_tokens(model, tokenizer, device, sentences)]


def score_tokens(model: CausalLM, tokenizer: Tokenizer, device: str, texts: Sequence[str]) -> Iterator[Scored]:
    """Score [CLS] text [SEP], several texts of much the same length at once; yields them in the order given."""
    model = model.to(device).eval()
    read = [line.ids for line in tokenizer.backend.encode_batch(list(texts), add_special_tokens=False)]
    rows = [[CLS_ID, *ids, SEP_ID][: model.config.max_positions] for ids in read]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    scored: dict[int, Scored] = {}
    while order:
        taken = order[-max(1, SCORED_AT_ONCE // len(rows[order[-1]])) :]
        del order[-len(taken) :]
        scored.update(zip(taken, _score_rows(model, device, [rows[number] for number in taken]), strict=True))
    yield from (scored[number] for number in range(len(rows)))


@torch.inference_mode()
def _score_rows(model: CausalLM, device: str, rows: Sequence[Sequence[int]]) -> list[Scored]:
    longest = max(map(len, rows))
    ids: Int[Tensor, "row token"] = torch.tensor([[*row, *[PAD_ID] * (longest - len(row))] for row in rows], device=device)
    logits = model.predict(model(ids).output[:, :-1]).float()
    wanted = ids[:, 1:]
    chances = logits.log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0].cpu()
    first = (logits.argmax(dim=-1) == wanted).cpu()
    return [Scored(chances[n, : len(row) - 1], first[n, : len(row) - 1]) for n, row in enumerate(rows)]
