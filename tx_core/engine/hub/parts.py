"""Locate and use single modules of a transformers model: its output projections, and its head on any hidden states.

A table names the modules of each family. The model is not changed.
"""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.engine import ModelInfo


@dataclass(frozen=True)
class FamilyModules:
    """Names of the modules of a family. The body is the model without its head.

    projection: pattern for the paths of the output projections of the first stack's attention, within the body. block, mlp: the
    same for its layers, and for what gives the output of the feed-forward sublayer of each; "" where no vectors are put in. head:
    paths of the modules that turn the last hidden states into logits, in order, within the model; empty if the head follows a
    decoder. final_norm: path of the norm between the last layer and the head, within the body.
    """

    projection: str
    block: str = ""
    mlp: str = ""
    head: tuple[str, ...] = ()
    final_norm: str | None = None


BERT_LAYER = r"encoder\.layer\.\d+"
BERT_MODULES = (rf"{BERT_LAYER}\.attention\.output\.dense", BERT_LAYER, rf"{BERT_LAYER}\.output\.dense")
DISTILBERT_LAYER = r"transformer\.layer\.\d+"
ALBERT_LAYER = r"encoder\.albert_layer_groups\.\d+\.albert_layers\.\d+"
LAYER = r"layers\.\d+"
LLAMA = FamilyModules(rf"{LAYER}\.self_attn\.o_proj", LAYER, rf"{LAYER}\.mlp", ("lm_head",), "norm")
ROBERTA = FamilyModules(*BERT_MODULES, ("lm_head",))
FAMILY_MODULES = {
    "bert": FamilyModules(*BERT_MODULES, ("cls",)),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "electra": FamilyModules(*BERT_MODULES, ("generator_predictions", "generator_lm_head")),
    "distilbert": FamilyModules(
        rf"{DISTILBERT_LAYER}\.attention\.out_lin",
        DISTILBERT_LAYER,
        rf"{DISTILBERT_LAYER}\.ffn",
        ("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),
    ),
    "albert": FamilyModules(rf"{ALBERT_LAYER}\.attention\.dense", ALBERT_LAYER, rf"{ALBERT_LAYER}\.ffn_output", ("predictions",)),
    "modernbert": FamilyModules(rf"{LAYER}\.attn\.Wo", LAYER, rf"{LAYER}\.mlp", ("head", "decoder"), "final_norm"),
    "gpt2": FamilyModules(r"h\.\d+\.attn\.c_proj", r"h\.\d+", r"h\.\d+\.mlp", ("lm_head",), "ln_f"),
    **dict.fromkeys(("llama", "mistral", "qwen2", "qwen3", "starcoder2"), LLAMA),
    "t5": FamilyModules(r"encoder\.block\.\d+\.layer\.0\.SelfAttention\.o"),
    "bart": FamilyModules(r"encoder\.layers\.\d+\.self_attn\.out_proj"),
}
"""Families by the library's name. The attention of a family that is not listed can be shown all the same."""


@dataclass(frozen=True)
class Parts:
    """Paths of the modules of one model, as in `FamilyModules`, but one output projection, block and MLP for each layer.

    blocks, mlps: empty where no vectors are put in.
    """

    projections: tuple[str, ...]
    blocks: tuple[str, ...]
    mlps: tuple[str, ...]
    head: tuple[str, ...]
    final_norm: str | None


def find_parts(body: nn.Module, info: ModelInfo) -> Parts | None:
    """Return the parts of a model, or None if its family is not in the table or its modules do not match the table."""
    family, layers = FAMILY_MODULES.get(info.family), info.num_layers
    if family is None:
        return None
    projections, blocks, mlps = (_paths(body, pattern, layers) for pattern in (family.projection, family.block, family.mlp))
    return Parts(projections, blocks, mlps, family.head, family.final_norm) if projections else None


def _paths(body: nn.Module, pattern: str, layers: int) -> tuple[str, ...]:
    """Return the paths that match a pattern, one for each layer; none where there are not as many."""
    paths = [path for path, _ in body.named_modules() if re.fullmatch(pattern, path)] if pattern else []
    if len(paths) == 1:
        paths *= layers  # all layers of ALBERT are the same module
    return tuple(paths) if len(paths) == layers else ()


def with_changes(model: Any, parts: Parts, change: Callable[[str, int, Tensor], Tensor]) -> Any:
    """Return a model of the same weights, of which layers and feed-forward sublayers hand what they put out to `change`.

    Its modules are copies: no other run has these hooks. A module that is several layers counts its calls.
    """
    copied = copy.deepcopy(model, {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())})
    for part, paths in (("residual", parts.blocks), ("mlp", parts.mlps)):
        layers = count()  # they run in order

        def changed(_module: nn.Module, _inputs: Any, output: Tensor, part: str = part, layers: Iterator[int] = layers) -> Tensor:
            return change(part, next(layers), output)

        for path in dict.fromkeys(paths):
            copied.base_model.get_submodule(path).register_forward_hook(changed)
    return copied


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
