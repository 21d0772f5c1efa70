"""What is read off a model of the transformers library besides its attention: what heads add, early answers, other vectors.

The model is one whose parts are known (see hub_parts.py), and stays as it is.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.engine import no_head
from tx_core.engine.exchange import Given, exchanged
from tx_core.engine.hub.model_info import Shape
from tx_core.engine.hub.parts import Parts
from tx_core.engine.hub.recorder import Recorder
from tx_core.errors import ModelUnavailable


class BodyOutput(NamedTuple):
    """What a head of the library asks the body for: the last vectors, and what else it would only hand on."""

    last_hidden_state: Float[Tensor, "..."]
    past_key_values: None = None
    hidden_states: None = None
    attentions: None = None
    cross_attentions: None = None


def read_by_head(model: Any, states: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
    """Let a model's own head read any vectors, as it reads those of its body."""
    given = Given(BodyOutput(states[None]))
    return exchanged(model, model.base_model_prefix, given)().logits[0]


def read_early(model: Any, parts: Parts, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
    """Let the head read a token's vectors at every depth, normed as the last of them are when a run gives them."""
    if parts.final_norm is not None:
        normed = model.base_model.get_submodule(parts.final_norm)(states[:-1])
        states = torch.cat([normed, states[-1:]])
    return read_by_head(model, states)


def answer_to(
    model: Any, parts: Parts, vectors: Float[Tensor, "step token width"], place: int, **inputs: Tensor | bool
) -> Float[Tensor, "step vocab"]:
    """Score the vocabulary at a place when a text's tokens enter by other vectors. inputs: the text, as often as steps."""
    body = exchanged(model.base_model, parts.lookup, Given(vectors))
    return read_by_head(model, body(**inputs, recorder=Recorder())[0][:, place])


def projection_weight(model: Any, parts: Parts, layer: int) -> Float[Tensor, "hidden joined"]:
    """Give the weight by which a layer joins what its heads put out."""
    projection = model.base_model.get_submodule(parts.projections[layer])
    return projection.weight if isinstance(projection, nn.Linear) else projection.weight.T  # GPT-2 lays it across


def known_parts(shape: Shape, title: str, so: str) -> Parts:
    """Give a model's parts, or raise ModelUnavailable. so: what cannot be had without them."""
    if shape.parts is None:
        raise ModelUnavailable(
            f"{title} is of a family that keeps its parts where they are not looked for, so that {so}. "
            "Choose a BERT or one of its relatives from the list."
        )
    return shape.parts


def parts_before_head(shape: Shape, title: str, so: str) -> Parts:
    """Give the parts of a model whose head reads the vectors of the first stack, or raise ModelUnavailable."""
    if shape.decoder_start is not None:
        raise ModelUnavailable(
            f"{title} answers by its decoder, while the vectors read here are its encoder's, so that {so}. "
            "Choose a BERT or one of its relatives from the list."
        )
    if not shape.has_head:
        raise no_head(title)
    return known_parts(shape, title, so)
