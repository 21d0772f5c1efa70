"""Python that computes a map of attention with torch and the transformers library only, without this project."""

from collections.abc import Sequence

from tx_core.engine import catalogue
from tx_core.engine.tokenizer import BLANK
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

CODE = """\
import torch
from transformers import AutoModel, AutoTokenizer

checkpoint = "{checkpoint}"
tokenizer = AutoTokenizer.from_pretrained(checkpoint{revision})
model = AutoModel.from_pretrained(checkpoint{revision}, dtype=torch.float32, attn_implementation="eager")

inputs = tokenizer({given}, return_tensors="pt")
with torch.inference_mode():
    layers = model(**inputs, output_attentions=True).attentions
weights = torch.stack([layers[layer][0, head] for layer, head in {heads}]).mean(0)  # layer and head, counted from 0

print(weights)
"""


def transformers_attention_code(trace: Trace, heads: Sequence[Head]) -> str:
    """Return the code for the mean of some heads; "" where the library alone does not compute it, or does not have the model.

    That is a run with changes, one on what a model wrote, and one of several kinds of attention.
    """
    card, read = catalogue.card(trace.model), trace.attention.query_tokens
    if not card.hub_id or trace.interventions or read.written or len(trace.stacks) > 1:
        return ""
    masks = [read.tokens[place] for place in read.blanks]
    given = [repr(BLANK.sub(masks[0], text) if masks else text) for text in (read.text, read.pair) if text]
    given += [] if read.special_tokens else ["add_special_tokens=False"]
    given += ["return_token_type_ids=True"] if 1 in read.segments else []
    revision = f', revision="{card.revision}"' if card.revision else ""
    named = {"checkpoint": card.hub_id, "revision": revision, "given": ", ".join(given)}
    return CODE.format(**named, heads=[tuple(map(int, head)) for head in heads])
