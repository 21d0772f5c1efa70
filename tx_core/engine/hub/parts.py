"""Where the families of the transformers library keep their parts: the table, and what is found by it in a model."""

import re
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Family:
    """What the modules of a family are called within its body, the model without its head.

    projection: the output projections of the (first) stack's attention, as a pattern. final_norm: what norms the last
    layer's vectors before the head reads them, None where each layer ends with a norm of its own.
    predicts_next: whether its head scores the token that follows.
    """

    projection: str
    final_norm: str | None = None
    predicts_next: bool = False


AS_BERT = Family(r"encoder\.layer\.\d+\.attention\.output\.dense")
FAMILIES = {
    "bert": AS_BERT,
    "roberta": AS_BERT,
    "xlm-roberta": AS_BERT,
    "camembert": AS_BERT,
    "electra": AS_BERT,
    "distilbert": Family(r"transformer\.layer\.\d+\.attention\.out_lin"),
    "albert": Family(r"encoder\.albert_layer_groups\.\d+\.albert_layers\.\d+\.attention\.dense"),
    "modernbert": Family(r"layers\.\d+\.attn\.Wo", "final_norm"),
    "gpt2": Family(r"h\.\d+\.attn\.c_proj", "ln_f", predicts_next=True),
    "t5": Family(r"encoder\.block\.\d+\.layer\.0\.SelfAttention\.o"),
    "bart": Family(r"encoder\.layers\.\d+\.self_attn\.out_proj"),
}
"""By the name that the library has for a family. A family that is not here shows its attention all the same."""


@dataclass(frozen=True)
class Parts:
    """What was found in the body of one model, as paths. lookup: its word vectors. projections: of each layer."""

    lookup: str
    projections: tuple[str, ...]
    final_norm: str | None


def find_parts(body: nn.Module, family: Family, layers: int) -> Parts | None:
    """Find the parts of a model; None where it is not built as its family is."""
    paths = [path for path, _ in body.named_modules() if re.fullmatch(family.projection, path)]
    if len(paths) == 1:
        paths *= layers  # ALBERT's layers are one module
    words = body.get_input_embeddings()
    lookup = next((path for path, module in body.named_modules() if module is words), None)
    return Parts(lookup, tuple(paths), family.final_norm) if lookup and len(paths) == layers else None
