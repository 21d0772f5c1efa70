"""Locate the modules of a transformers model, with a table of module names for each family."""

import re
from dataclasses import dataclass

from torch import nn

from tx_core.engine.model_info import ModelInfo


@dataclass(frozen=True)
class Family:
    """Names of the modules of a family. The body is the model without its head.

    Attributes:
        projection: Pattern for the paths of the output projections of the first stack's attention, within the body.
        head: Paths of the modules that turn the last hidden states into logits, in order, within the model. Empty if
            the head follows a decoder.
        final_norm: Path of the norm between the last layer and the head, within the body, or None.
        predicts_next: Whether the head predicts the next token.
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
"""Families by the library's name. The attention of a family that is not listed can be shown all the same."""


@dataclass(frozen=True)
class Parts:
    """Paths of the modules of one model, as in `Family`, but with one output projection for each layer."""

    projections: tuple[str, ...]
    head: tuple[str, ...]
    final_norm: str | None


def find_parts(body: nn.Module, info: ModelInfo) -> Parts | None:
    """Return the parts of a model, or None if its family is not in the table or its modules do not match the table."""
    family, layers = FAMILIES.get(info.family), info.num_layers
    if family is None:
        return None
    paths = [path for path, _ in body.named_modules() if re.fullmatch(family.projection, path)]
    if len(paths) == 1:
        paths *= layers  # all layers of ALBERT are the same module
    return Parts(tuple(paths), family.head, family.final_norm) if len(paths) == layers else None
