"""How the transformers library's own modules are called in each family: what code for a reader reads off a model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FamilyCode:
    """The Python by which a family's model, loaded with its head or without, gives what the summaries need.

    attention: the module that `value` and `output` name. value: its values of `hidden[LAYER]`, all heads side by side.
    output: its output projection, as values are multiplied by it. head: scores of the vocabulary from `states`, "" where
    another stack answers. norm: what norms `states` before the last, "" where layers do so themselves. loader: with head.
    """

    attention: str
    value: str
    output: str
    head: str = ""
    norm: str = ""
    loader: str = "AutoModelForMaskedLM"


def _as_bert(head: str) -> FamilyCode:
    attention = "attention = model.encoder.layer[LAYER].attention"
    return FamilyCode(attention, "attention.self.value(hidden[LAYER])", "attention.output.dense.weight.T", head)


_AS_ROBERTA = _as_bert("model.lm_head(states)")
FAMILIES = {
    "bert": _as_bert("model.cls(states)"),
    "roberta": _AS_ROBERTA,
    "xlm-roberta": _AS_ROBERTA,
    "camembert": _AS_ROBERTA,
    "electra": _as_bert("model.generator_lm_head(model.generator_predictions(states))"),
    "distilbert": FamilyCode(
        "attention = model.transformer.layer[LAYER].attention",
        "attention.v_lin(hidden[LAYER])",
        "attention.out_lin.weight.T",
        "model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(states))))",
    ),
    "albert": FamilyCode(
        "attention = model.encoder.albert_layer_groups[0].albert_layers[0].attention  # one for all layers",
        "attention.value(hidden[LAYER])",
        "attention.dense.weight.T",
        "model.predictions(states)",
    ),
    "modernbert": FamilyCode(
        "block = model.layers[LAYER]",
        "block.attn.Wqkv(block.attn_norm(hidden[LAYER])).chunk(3, -1)[2]",
        "block.attn.Wo.weight.T",
        "model.decoder(model.head(states))",
        "model.model.final_norm",
    ),
    "gpt2": FamilyCode(
        "block = model.h[LAYER]",
        "block.attn.c_attn(block.ln_1(hidden[LAYER])).chunk(3, -1)[2]",
        "block.attn.c_proj.weight",
        "model.lm_head(states)",
        "model.transformer.ln_f",
        "AutoModelForCausalLM",
    ),
    "t5": FamilyCode(
        "block = model.encoder.block[LAYER].layer[0]",
        "block.SelfAttention.v(block.layer_norm(hidden[LAYER]))",
        "block.SelfAttention.o.weight.T",
    ),
    "bart": FamilyCode(
        "attention = model.encoder.layers[LAYER].self_attn", "attention.v_proj(hidden[LAYER])", "attention.out_proj.weight.T"
    ),
}
"""By the library's name of the family: all whose parts tx_core knows."""
