"""The label of a text: what a model makes of it, and what each word adds."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float

from tx_core.analysis.attribution import check_attribution_length, integrated_gradients, masked_words
from tx_core.analysis.probabilities import probabilities
from tx_core.analysis.views import word_groups
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import TextProblem
from tx_core.transformer.bert import LabelHead
from tx_core.transformer.trace import Trace

FINE_TUNED = "film_reviews"
"""The model of the catalogue that tells positive from negative film reviews."""
NO_WORD = "Write a sentence of one word or more."


@dataclass(frozen=True)
class LabelPrediction:
    """The prediction for a sentence.

    contributions: each token's part of each label's logit, less what all labels have in common, which softmax ignores. trace: the
    run; `trace.attention.query_tokens` holds the words, its `unknown` the positions of unknown ones.
    """

    names: tuple[str, ...]
    probabilities: tuple[float, ...]
    contributions: Float[np.ndarray, "label token"]
    trace: Trace

    @property
    def label(self) -> str:
        return self.names[self.probabilities.index(max(self.probabilities))]

    def of_words(self) -> tuple[tuple[str, ...], Float[np.ndarray, "label word"]]:
        """Return the words as they were typed, and each one's contributions: those of its pieces, added up."""
        encoding = self.trace.attention.query_tokens
        groups = [group for group in word_groups(encoding) if encoding.words[group[0]] is not None]
        words = tuple(encoding.word_texts[encoding.words[group[0]]] for group in groups)
        return words, np.stack([self.contributions[:, group].sum(axis=1) for group in groups], axis=1)

    @property
    def all_unknown(self) -> bool:
        """Whether no word of the text is known, so that the label means nothing."""
        words = self.trace.attention.query_tokens
        return len(words.unknown) == len(words)

    @property
    def nbytes(self) -> int:
        return self.contributions.nbytes + self.trace.nbytes


def label_text(engine: BertEngine, text: str) -> LabelPrediction:
    """Label a text with the label head of a model, and split each logit among its tokens by integrated gradients.

    A token's contributions are what it changes on the way from the text with all words masked (Sundararajan et al. 2017).

    Raises TextProblem if the text cannot be read, or has no word; ModelUnavailable if the model has no label head.
    """
    trace = engine.trace(text, keep=("weights", "hidden"))
    logits = engine.label_logits(trace.hidden[-1])
    encoding = trace.attention.query_tokens
    if not encoding.word_texts:
        raise TextProblem(NO_WORD)
    check_attribution_length(engine, encoding)
    vectors, baseline = engine.embed(encoding.ids), engine.embed(masked_words(engine, encoding))
    # Logits less their mean sum to 0, and so do their gradients: the last label needs none of its own.
    of_label = partial(engine.label_gradients, encoding)
    rows = [integrated_gradients(partial(of_label, label), vectors, baseline) for label in range(len(logits) - 1)]
    contributions = np.array([*rows, -np.sum(rows, axis=0)], np.float32)
    return LabelPrediction(engine.info.labels, tuple(probabilities(logits).tolist()), contributions, trace)


@torch.no_grad()
def head_input(head: LabelHead, hidden: Float[np.ndarray, "token hidden"]) -> Float[np.ndarray, "row hidden"]:
    """Return what a head multiplies by its weights, of the last hidden states: a vector of the text, or one of each token."""
    weight = head.label.weight
    return head.read(torch.tensor(hidden, device=weight.device)[None], None).reshape(-1, weight.shape[1]).cpu().numpy()
