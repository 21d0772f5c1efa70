"""Asking a trained classifier: a label for a sentence, where the model looked, and what each word said to it."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.training.classifier import ClassifierTraining
from tx_core.training.classifier_model import Classifier
from tx_core.training.words import encode_words
from tx_core.transformer.heads import max_pool
from tx_core.transformer.trace import AttentionStack, Trace


@dataclass(frozen=True)
class LabelPrediction:
    """What a trained model makes of a sentence: a probability for each label, and where it looked.

    said: what each word adds to each label's score, by the dimensions whose greatest value is its own; a label's row
    and its bias add up to its score, less what all labels have in common, which softmax does not notice.
    trace.attention.query_tokens holds the words; its `unknown` names the places of words not in the vocabulary.
    """

    names: tuple[str, ...]
    probabilities: tuple[float, ...]
    said: Float[np.ndarray, "label word"]
    trace: Trace

    @property
    def label(self) -> str:
        """The likeliest label."""
        return self.names[self.probabilities.index(max(self.probabilities))]

    @property
    def all_unknown(self) -> bool:
        """Whether not one word of the text is known: the label then says nothing."""
        words = self.trace.attention.query_tokens
        return len(words.unknown) == len(words)


@torch.no_grad()
def predict(training: ClassifierTraining, text: str) -> LabelPrediction:
    """Label a visitor's sentence. Raises TextProblem when it has no word or too many."""
    encoding = encode_words(text, training.vocabulary.numbers(), training.settings.most_tokens)
    ids = torch.tensor([encoding.ids], device=training.device)
    logits, run = training.model(ids, keep=("weights", "scores"))
    parts = {part: torch.cat([layer[part] for layer in run.layers]).cpu().numpy() for part in ("weights", "scores")}
    return LabelPrediction(
        training.data.names,
        tuple(logits[0].softmax(-1).tolist()),
        words_said(training.model, run.output).cpu().numpy(),
        Trace("classifier", training.device, (AttentionStack("self", encoding, encoding, **parts),)),
    )


def words_said(model: Classifier, hidden: Float[Tensor, "1 token hidden"]) -> Float[Tensor, "label token"]:
    """Share out each label's score among the words that spoke: a dimension counts for the word with most of it."""
    pooled = max_pool(hidden)
    parts = model.head.label.weight * pooled.values  # label, hidden
    parts = parts - parts.mean(dim=0)
    return parts.new_zeros(len(parts), hidden.shape[1]).index_add(1, pooled.winners[0], parts)
