"""Where the families of the transformers library keep their parts: the table, and what is found by it in a model."""

import re
from dataclasses import dataclass

from torch import nn

from tx_core.engine.model_info import ModelInfo


@dataclass(frozen=True)
class Family:
    """What the modules of a family are called within its body, the model without its head.

    Attributes:
        projection: the output projections of the first stack's attention, as a pattern within the body.
        head: the modules that make scores of the vocabulary from the last vectors, in order, as paths within the model.
            Empty where the head reads a decoder, which is not read off here.
        final_norm: the norm between the last layer and the head, within the body; None where each layer ends with its own.
        predicts_next: whether the head scores the token that follows.
    """

    projection: str
    head: tuple[str, ...] = ()
    final_norm: str | None = None
    predicts_next: bool = False


BERT_PROJECTION = r"encoder\.layer\.\d+\.attention\.output\.dense"
ROBERTA = Family(BERT_PROJECTION, ("lm_head",))
FAMILIES = {
    "bert": Family(BERT_PROJECTION, ("cls",)),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "electra": Family(BERT_PROJECTION, ("generator_predictions", "generator_lm_head")),
    "distilbert": Family(
        r"transformer\.layer\.\d+\.attention\.out_lin",
        ("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),
    ),
    "albert": Family(r"encoder\.albert_layer_groups\.\d+\.albert_layers\.\d+\.attention\.dense", ("predictions",)),
    "modernbert": Family(r"layers\.\d+\.attn\.Wo", ("head", "decoder"), "final_norm"),
    "gpt2": Family(r"h\.\d+\.attn\.c_proj", ("lm_head",), "ln_f", predicts_next=True),
    "t5": Family(r"encoder\.block\.\d+\.layer\.0\.SelfAttention\.o"),
    "bart": Family(r"encoder\.layers\.\d+\.self_attn\.out_proj"),
}
"""By the name that the library has for a family. A family that is not here shows its attention all the same."""


@dataclass(frozen=True)
class Parts:
    """Where the parts of one model are, as paths: those of its `Family`, but one output projection for each layer."""

    projections: tuple[str, ...]
    head: tuple[str, ...]
    final_norm: str | None


def find_parts(body: nn.Module, info: ModelInfo) -> Parts | None:
    """Find the parts of a model; None where its family is not in the table, or it is not built as its family is."""
    family, layers = FAMILIES.get(info.family), info.num_layers
    if family is None:
        return None
    paths = [path for path, _ in body.named_modules() if re.fullmatch(family.projection, path)]
    if len(paths) == 1:
        paths *= layers  # ALBERT's layers are one module
    return Parts(tuple(paths), family.head, family.final_norm) if len(paths) == layers else None
