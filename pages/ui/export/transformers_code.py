"""Python that computes a map or predictions with torch and the transformers library only, without this project."""

from collections.abc import Sequence

from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import base_directory, read_config
from tx_core.engine.tokenizer import BLANK
from tx_core.fill_mask.predictions import Filling
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Encoding, Trace

LOADING = """\
{imports}import torch
from transformers import {auto}, AutoTokenizer

checkpoint = "{checkpoint}"{here}
tokenizer = AutoTokenizer.from_pretrained(checkpoint{revision})
model = {auto}.from_pretrained(checkpoint{revision}, dtype=torch.float32, attn_implementation="eager")

"""
ATTENTION = """\
inputs = tokenizer({given}, return_tensors="pt")
with torch.inference_mode():
    layers = model(**inputs, output_attentions=True).attentions
weights = torch.stack([layers[layer][0, head] for layer, head in {heads}]).mean(0)  # layer and head, counted from 0
axes = {{"x": "key (is looked at)", "y": "query (looks)"}}
figure = plotly.express.imshow(weights, labels=axes, zmin=0, zmax=1, color_continuous_scale="Blues")
# figure.show() opens the map in a browser.

print(weights)
"""
FILLING = """\
# The likeliest words of each blank alone; words that were checked and all blanks together are not computed here.
predictions = []
for text in {given}:
    inputs = tokenizer(text, return_tensors="pt"{bare})
    with torch.inference_mode():
        logits = model(**inputs).logits[0]
    for place in (inputs.input_ids[0] == tokenizer.mask_token_id).nonzero()[:, 0]:
        shares, ids = logits[place].softmax(-1).topk({count})
        predictions += zip(tokenizer.convert_ids_to_tokens(ids), shares.tolist())

print(predictions)
"""
BARE = ", add_special_tokens=False"


def transformers_attention_code(trace: Trace, heads: Sequence[Head]) -> str:
    """Return the code for the mean of some heads; "" where the library alone does not compute it, or does not have the model.

    That is a run with changes, one on what a model wrote, and one of several kinds of attention.
    """
    read = trace.attention.query_tokens
    if trace.interventions or read.written or len(trace.stacks) > 1:
        return ""
    given = [repr(_with_masks(text, read)) for text in (read.text, read.pair) if text]
    if 1 in read.segments:  # GPT-2 would take them for words
        given.append('return_token_type_ids=(getattr(model.config, "type_vocab_size", None) or 0) > 1')
    arguments = ", ".join(given) + ("" if read.special_tokens else BARE)
    code = ATTENTION.format(given=arguments, heads=[tuple(map(int, head)) for head in heads])
    return _loaded(trace.model, "AutoModel", code, "import plotly.express\n")


def transformers_filling_code(model: str, fillings: Sequence[Filling], count: int) -> str:
    """Return the code for the likeliest words at the blanks of texts; "" where the library does not have the model.

    count: of the words at each blank.
    """
    given = [_with_masks(one.encoding.text, one.encoding) for one in fillings]
    bare = "" if fillings[0].encoding.special_tokens else BARE
    return _loaded(model, "AutoModelForMaskedLM", FILLING.format(given=given, bare=bare, count=count))


def _with_masks(text: str, read: Encoding) -> str:
    """Write blanks as the model's own mask token."""
    return BLANK.sub(read.tokens[read.blanks[0]], text) if read.blanks else text


def _loaded(model: str, auto: str, code: str, imports: str = "") -> str:
    """Put before some code what loads a model; "" for one of two files of weights, which only this project puts together."""
    card = catalogue.card(model)
    folder = card.directory or catalogue.MODELS / card.name
    if not card.hub_id and base_directory(folder, read_config(folder)):
        return ""
    revision = f', revision="{card.revision}"' if card.revision else ""
    if card.hub_id:
        checkpoint, here = card.hub_id, ""
    elif card.is_embedded:
        checkpoint, here = f"assets/models/{card.name}", "  # a folder of this project"
    else:
        checkpoint, here = f"models/{folder.name}", "  # a folder of the host: copy it there"
    return LOADING.format(imports=imports, auto=auto, checkpoint=checkpoint, here=here, revision=revision) + code
