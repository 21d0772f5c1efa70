"""A text for all families that come through transformers, and how the library runs it."""

import torch
import transformers

from tx_core.transformer.trace import Encoding, Trace

TWO_SIDED = ["t5", "bart"]
"""Encoder-decoders."""
TEXT, PAIR = "Time flies like an arrow", "fruit flies"


@torch.inference_mode()
def by_the_library(
    model: transformers.PreTrainedModel, trace: Trace, source: Encoding | None = None, hidden: int | None = None
) -> transformers.utils.ModelOutput:
    """Run the library's model on the tokens of a trace, or another source; hidden: the one that its attention mask leaves out."""
    source = source or trace.attention.query_tokens
    allowed = torch.ones(1, len(source.ids), dtype=torch.long)
    if hidden is not None:
        allowed[0, hidden] = 0
    inputs = {"input_ids": torch.tensor([source.ids]), "attention_mask": allowed}
    if getattr(model.config, "type_vocab_size", 0) == 2 and len(source.segments) == len(source.ids):
        inputs["token_type_ids"] = torch.tensor([source.segments])
    if len(trace.stacks) > 1:
        inputs["decoder_input_ids"] = torch.tensor([trace.stacks[1].query_tokens.ids])
    return model(**inputs, output_attentions=True, output_hidden_states=True)
