"""Predictions of every next token by a causal language model: on held-out texts, of whole sentences, and continued by itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.masked_words import HELD_OUT_LINES, HeldOut, first_words, held_out_means, sample_lines
from tx_core.training.pretraining.vocabulary import CLS_ID, PAD_ID, SEP_ID
from tx_core.transformer.causal_lm import CausalLM

SCORED_AT_ONCE = 2048
"""Tokens that are scored together."""
BEGINNINGS = (
    "once upon a time",
    "the old man went to the",
    "she opened the door and",
    "london is the",
    "water is made of",
    "i am very happy because",
)
"""What the model continues, in the order of its card; none was chosen for what came out."""
CONTINUED_BY = 24


class CausalProbe(NamedTuple):
    """A causal language model under test, with its tokenizer and where it runs."""

    model: CausalLM
    tokenizer: Tokenizer
    device: str = "cpu"


class Scored(NamedTuple):
    """The log-probability of each token of a text after the first, and whether it was the first guess."""

    log_probabilities: Float[Tensor, "token"]
    first: Bool[Tensor, "token"]


def measure_next_tokens(probe: CausalProbe, files: Sequence[Path], most_lines: int = HELD_OUT_LINES) -> dict[str, HeldOut]:
    """Predict every token of each text, [SEP] at its end included. exp(loss) is the perplexity."""
    sums = {}
    for file in files:
        texts = [first_words(line) for line in sample_lines(file, most_lines)]
        scored = list(score_tokens(probe, texts))
        nats = -sum(float(text.log_probabilities.sum()) for text in scored)
        right, pieces = sum(int(text.first.sum()) for text in scored), sum(len(text.first) for text in scored)
        sums[file.stem] = (nats, right, pieces, nats, sum(len(text.split()) for text in texts))
    return held_out_means(sums)


def log_likelihoods(probe: CausalProbe, sentences: Sequence[str]) -> list[float]:
    """Return the log-probability of each sentence, its end included. A sentence that is too long is truncated."""
    return [float(text.log_probabilities.sum()) for text in score_tokens(probe, sentences)]


def score_tokens(probe: CausalProbe, texts: Sequence[str]) -> Iterator[Scored]:
    """Score [CLS] text [SEP], several texts of much the same length at once; yields them in the order given."""
    model = probe.model.to(probe.device).eval()
    read = [line.ids for line in probe.tokenizer.backend.encode_batch(list(texts), add_special_tokens=False)]
    rows = [[CLS_ID, *ids, SEP_ID][: model.config.max_positions] for ids in read]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    scored: dict[int, Scored] = {}
    while order:
        taken = order[-max(1, SCORED_AT_ONCE // len(rows[order[-1]])) :]
        del order[-len(taken) :]
        scored.update(zip(taken, _score_rows(model, probe.device, [rows[number] for number in taken]), strict=True))
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


@torch.inference_mode()
def continue_text(probe: CausalProbe, beginning: str, tokens: int = CONTINUED_BY, seed: int | None = None) -> str:
    """Append the most probable token again and again, or with a seed one drawn by its probability, up to the end of the text."""
    model = probe.model.to(probe.device).eval()
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    ids = [CLS_ID, *probe.tokenizer.backend.encode(beginning, add_special_tokens=False).ids]
    for _ in range(min(tokens, model.config.max_positions - len(ids))):
        run = model(torch.tensor([ids], device=probe.device), places=[len(ids) - 1])
        logits = model.predict(run.output)[0, 0].float().cpu()
        following = logits.argmax() if generator is None else torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
        if int(following) == SEP_ID:
            break
        ids.append(int(following))
    return probe.tokenizer.backend.decode(ids)
