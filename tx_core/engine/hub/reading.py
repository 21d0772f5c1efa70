"""What is read off a model of the transformers library besides its attention: what heads add, and scores of any vectors.

The model is one whose parts are known (see parts.py), and stays as it is.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.engine import no_head
from tx_core.engine.hub.parts import Parts
from tx_core.engine.model_info import ModelInfo
from tx_core.errors import ModelUnavailable


def apply_head(model: Any, parts: Parts, states: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
    """Score the vocabulary by a model's own head at any vectors of the width of its last layer."""
    for path in parts.head:
        states = model.get_submodule(path)(states)
    return states


def position_ids(model: Any, ids: Int[Tensor, "row token"]) -> dict[str, Tensor]:
    """Give the positions of tokens that enter a model as vectors, where it numbers them by their ids.

    RoBERTa leaves padding out of the count, and vectors no longer tell what is padding.
    """
    embeddings = getattr(model.base_model, "embeddings", None)
    if not hasattr(embeddings, "create_position_ids_from_input_ids"):
        return {}
    return {"position_ids": embeddings.create_position_ids_from_input_ids(ids, embeddings.padding_idx)}


def read_early(model: Any, parts: Parts, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
    """Let the head read a token's vectors at every depth, normed as the last of them are when a run gives them."""
    if parts.final_norm is not None:
        normed = model.base_model.get_submodule(parts.final_norm)(states[:-1])
        states = torch.cat([normed, states[-1:]])
    return apply_head(model, parts, states)


def projection_weight(model: Any, parts: Parts, layer: int) -> Float[Tensor, "hidden joined"]:
    """Give the weight by which a layer joins what its heads put out."""
    projection = model.base_model.get_submodule(parts.projections[layer])
    return projection.weight if isinstance(projection, nn.Linear) else projection.weight.T  # GPT-2 lays it across


def known_parts(parts: Parts | None, title: str, so: str) -> Parts:
    """Give a model's parts, or raise ModelUnavailable. so: what cannot be had without them."""
    if parts is None:
        raise ModelUnavailable(
            f"{title} is of a family that keeps its parts where they are not looked for, so that {so}. "
            "Choose a BERT or one of its relatives from the list."
        )
    return parts


def parts_before_head(info: ModelInfo, parts: Parts | None, title: str, so: str) -> Parts:
    """Give the parts of a model whose head reads the vectors of the first stack, or raise ModelUnavailable."""
    if info.decoder_start is not None:
        raise ModelUnavailable(
            f"{title} answers by its decoder, while the vectors read here are its encoder's, so that {so}. "
            "Choose a BERT or one of its relatives from the list."
        )
    if not info.has_head:
        raise no_head(title)
    return known_parts(parts, title, so)
