"""Use single modules of a transformers model: its output projections, and its head on any hidden states.

The modules are located by the table in parts.py. The model is not changed.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.engine import no_head
from tx_core.engine.hub.parts import Parts
from tx_core.engine.model_info import ModelInfo
from tx_core.errors import ModelUnavailable

UNKNOWN_FAMILY = (
    "The architecture of {title} is not one whose modules this app can locate. {limitation} "
    "Choose a BERT or one of its relatives from the list."
)
HEAD_ON_DECODER = (
    "{title} predicts with its decoder, but only its encoder's hidden states are available here. {limitation} "
    "Choose a BERT or one of its relatives from the list."
)


def apply_head(model: Any, parts: Parts, states: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
    """Apply the model's own head to hidden states of its last layer's size, giving logits."""
    for path in parts.head:
        states = model.get_submodule(path)(states)
    return states


def position_ids(model: Any, ids: Int[Tensor, "row token"]) -> dict[str, Tensor]:
    """Return the `position_ids` argument for a model that derives positions from token ids, else no argument.

    RoBERTa does not count padding, which it cannot recognise when it is given word vectors in place of ids.
    """
    embeddings = getattr(model.base_model, "embeddings", None)
    if not hasattr(embeddings, "create_position_ids_from_input_ids"):
        return {}
    return {"position_ids": embeddings.create_position_ids_from_input_ids(ids, embeddings.padding_idx)}


def read_early(model: Any, parts: Parts, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
    """Apply the head to a token's hidden state at every depth (logit lens).

    The model applies its final norm, if it has one, to the last hidden state only, so here it is applied to the others.
    """
    if parts.final_norm is not None:
        normed = model.base_model.get_submodule(parts.final_norm)(states[:-1])
        states = torch.cat([normed, states[-1:]])
    return apply_head(model, parts, states)


def projection_weight(model: Any, parts: Parts, layer: int) -> Float[Tensor, "hidden joined"]:
    """Return the weight of a layer's output projection, which combines the outputs of its heads."""
    projection = model.base_model.get_submodule(parts.projections[layer])
    return projection.weight if isinstance(projection, nn.Linear) else projection.weight.T  # GPT-2 stores it transposed


def require_parts(parts: Parts | None, title: str, limitation: str) -> Parts:
    """Return a model's parts.

    Args:
        parts: The parts, or None if the model's family is not in the table.
        title: The model's name for the reader.
        limitation: A sentence that says what cannot be computed without the parts.

    Raises:
        ModelUnavailable: If `parts` is None.
    """
    if parts is None:
        raise ModelUnavailable(UNKNOWN_FAMILY.format(title=title, limitation=limitation))
    return parts


def require_head_on_first_stack(info: ModelInfo, parts: Parts | None, title: str, limitation: str) -> Parts:
    """Return the parts of a model whose head takes the hidden states of its first stack.

    Args and errors are those of `require_parts`.

    Raises:
        ModelUnavailable: Also if the model is an encoder-decoder or has no head.
    """
    if info.decoder_start is not None:
        raise ModelUnavailable(HEAD_ON_DECODER.format(title=title, limitation=limitation))
    if not info.has_head:
        raise no_head(title)
    return require_parts(parts, title, limitation)
