"""Python that computes attention with torch and the transformers library only, without this project."""

from collections.abc import Sequence
from typing import Protocol

from tx_core.analysis.views import View, word_groups
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import base_directory, read_config
from tx_core.engine.tokenizer import BLANK
from tx_core.transformer.interventions import (
    Head,
    Intervention,
    effective,
    reads_positions,
    unmasked_padding,
)
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

OUTPUTS = {"self": "attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
NOT_IN_CODE = "# Without {change!r}, which only tx_core computes: the numbers are not those of the page."
SPARSEMAX = '''
def sparsemax(scores):
    """Martins & Astudillo 2016, algorithm 1."""
    scores = scores - scores.amax(-1, keepdim=True)
    ordered = scores.sort(-1, descending=True).values
    sums = ordered.cumsum(-1)
    supported = (1 + torch.arange(1, scores.shape[-1] + 1) * ordered > sums).sum(-1, keepdim=True)
    return (scores - (sums.gather(-1, supported - 1) - 1) / supported).clamp(min=0)

'''
CHANGED_ATTENTION = '''
seen = []  # the weights of every attention, in the order in which they are computed


def attention(module, query, key, value, mask, scaling=None, dropout=0.0, position_bias=None, **_):
    """Attention as the library computes it, but for what CHANGES says."""
    change = CHANGES.get(len(seen), {})
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    scores = scores if position_bias is None else scores + position_bias
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else (mask == 0).expand_as(scores).clone()
    for head, looked_at in change.get("hidden", []):
        allowed[:, head, :, looked_at] = False
    for head, looking, looked_at in change.get("cut", []):
        allowed[:, head, looking, looked_at] = False
    if "causal" in change:
        allowed = allowed.tril()
    nowhere = ~allowed.any(-1, keepdim=True)
    scores = (scores / change.get("temperature", 1)).masked_fill(~allowed, -torch.inf).masked_fill(nowhere, 0)
    weights = change.get("normalise", softmax)(scores).masked_fill(nowhere, 0)
    for head in change.get("uniform", []):
        weights[:, head] = (allowed / allowed.sum(-1, keepdim=True).clamp(min=1))[:, head]
    for head in change.get("off", []):
        weights[:, head] = 0
    seen.append(weights)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def softmax(scores):
    return scores.softmax(-1)


def hardmax(scores):
    return torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)

'''

DIFFERENCE = """\
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForSequenceClassification

checkpoint = "{source}"{here}: what differs from the model that was fine-tuned
weights = load_file("{base}/model.safetensors") | load_file(f"{{checkpoint}}/model.safetensors")
for name in [name for name in weights if name.endswith(".up")]:
    matrix, up, down = name.removesuffix(".up"), weights.pop(name), weights.pop(name.replace(".up", ".down"))
    weights[matrix] = weights[matrix].float() + up.float() @ down.float()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
labels = AutoModelForSequenceClassification.from_config(
    AutoConfig.from_pretrained(checkpoint), dtype=torch.float32, attn_implementation="eager"
).eval()
labels.load_state_dict({{name: weights[name].float() for name in labels.state_dict()}})
model = labels.bert  # labels(**inputs).logits are the scores of the labels

"""


_DRAWN = (
    'axes = {"x": "key (is looked at)", "y": "query (looks)"}',
    'figure = plotly.express.imshow(weights.detach(), labels=axes, zmin=0, zmax=1, color_continuous_scale="Blues")',
    "# figure.show() opens the map in a browser.",
)
"""Draws the map that was printed."""


class ShownMap(Protocol):
    """What the code of a map is written of: see `attention.AttentionMap`."""

    trace: Trace
    heads: tuple[Head, ...]
    kind: str
    words: bool
    view: View
    padding: int


def transformers_attention_code(exported: ShownMap) -> str:
    """Return the code for a map, with every option and intervention that changes its numbers."""
    trace, kind, changed = exported.trace, exported.kind, exported.trace.interventions
    interfaces = "AttentionInterface, AttentionMaskInterface, " if changed else ""
    return "\n".join(
        [
            "import plotly.express",
            "import torch",
            f"from transformers import {interfaces}AutoModel, AutoTokenizer",
            *(["from transformers.masking_utils import eager_mask"] if changed else []),
            "",
            *loading_lines(trace.model),
            *_inputs(trace),
            *_run(trace, kind),
            *_shown(exported),
            *_DRAWN,
            "",
        ]
    )


def loading_lines(model: str, auto_class: str = "AutoModel") -> list[str]:
    """Return the code that loads a model and its tokenizer with the library, at the commit that this project pins."""
    card = catalogue.card(model)
    source = card.hub_id or (f"assets/models/{card.name}" if card.is_embedded else f"models/{card.directory.name}")
    revision = f', revision="{card.revision}"' if card.revision else ""
    here = "" if card.hub_id else "  # a folder of this project" if card.is_embedded else "  # the folder of the model"
    folder = None if card.hub_id else card.directory or catalogue.MODELS / card.name
    if folder and (other := base_directory(folder, read_config(folder))):
        base = f"{source.rpartition('/')[0]}/{other.name}"
        return DIFFERENCE.format(source=source, base=base, here=here).splitlines()
    return [
        f'checkpoint = "{source}"{here}',
        f"tokenizer = AutoTokenizer.from_pretrained(checkpoint{revision})",
        f'model = {auto_class}.from_pretrained(checkpoint{revision}, dtype=torch.float32, attn_implementation="eager")',
        "",
    ]


def _inputs(trace: Trace) -> list[str]:
    source, read = trace.attention.query_tokens, [stack.query_tokens for stack in trace.stacks]
    text, pair = (with_mask_tokens(sentence, *read) for sentence in (source.text, source.pair or ""))
    several = len(trace.stacks) > 1
    bare = special_argument(source.special_tokens)
    given = ", ".join([repr(text), *([repr(pair)] if pair and not several else [])]) + bare
    named = ""
    if 1 in trace.attention.query_tokens.segments:  # GPT-2 would take them for words
        named = ', return_token_type_ids=(getattr(model.config, "type_vocab_size", None) or 0) > 1'
    lines = [f'inputs = tokenizer({given}, return_tensors="pt"{named})']
    if source.written:
        lines += [
            f"written = {list(source.written)}  # tokens that the model wrote",
            'inputs = {"input_ids": torch.tensor([[*inputs.input_ids[0].tolist(), *written]])}',
        ]
    if several:
        start, written = read[1].ids[0], "" if len(read[1]) == 1 else f", *tokenizer({(pair or text)!r}{bare}).input_ids[:-1]"
        lines.append(f'inputs["decoder_input_ids"] = torch.tensor([[{start}{written}]])  # the start, then what it has written')
    return lines


def special_argument(special_tokens: bool) -> str:
    """Return the argument of the library's tokenizer that leaves special tokens out; nothing where they are added."""
    return "" if special_tokens else ", add_special_tokens=False"


def with_mask_tokens(sentence: str, *encodings: Encoding) -> str:
    """Write blanks as the model's own mask token, which is read off the encodings that the model was given."""
    masks = [encoding.tokens[place] for encoding in encodings for place in encoding.blanks]
    return BLANK.sub(masks[0], sentence) if masks else sentence


def _run(trace: Trace, kind: str) -> list[str]:
    """Return the code that runs the model; `layers` are then the weights of every layer of one kind of attention."""
    output = "encoder_attentions" if kind == "self" and len(trace.stacks) > 1 else OUTPUTS[kind]
    lines = [
        "with torch.inference_mode():",
        "    output = model(**inputs, output_attentions=True)",
        f"{'unchanged' if trace.interventions else 'layers'} = output.{output}",
    ]
    if not trace.interventions:
        return lines
    layers = trace.stacks[0].weights.shape[0]
    which = {"self": f"[:{layers}]", "decoder": f"[{layers}::2]", "cross": f"[{layers + 1}::2]"}[kind]
    lines += [
        "",
        *intervention_lines(trace),
        "with torch.inference_mode():",
        "    output = model(**inputs, use_cache=False)",
        f"layers = seen{which}",
    ]
    if unmasked_padding(trace.interventions):
        stack = stack_of(trace, kind)
        queries, keys = len(stack.query_tokens), len(stack.key_tokens)
        lines.append(f"layers = [weights[:, :, :{queries}, :{keys}] for weights in layers]  # the text's own tokens")
    return lines


def _shown(exported: ShownMap) -> list[str]:
    """Return the code that prepares and prints the page's weights; for a changed run also those before, and the difference."""
    if not exported.trace.interventions:
        return [*_weights(exported), "", "print(weights)"]
    return [
        "",
        "",
        "def shown(layers):",
        *(f"    {line}" for line in _weights(exported)),
        "    return weights",
        "",
        "",
        "before, weights = shown(unchanged), shown(layers)",
        "difference = weights - before",
        "",
        'print(before, weights, difference, sep="\\n")',
    ]


def _weights(exported: ShownMap) -> list[str]:
    """Return the code that turns `layers` into `weights`: heads chosen, words merged, special tokens left out, the mean taken."""
    view, trace = exported.view, exported.trace
    stack = stack_of(trace, exported.kind)
    chosen = ", ".join(f"layers[{layer}][0, {head}]" for layer, head in exported.heads)
    lines = [f"weights = torch.stack([{chosen}])  # head, query, key; layers and heads are counted from 0"]
    groups = [[[place] for place in range(len(side))] for side in (stack.query_tokens, stack.key_tokens)]
    if exported.words:
        groups = [[list(group) for group in word_groups(side)] for side in (stack.query_tokens, stack.key_tokens)]
        lines += [
            f"looked_at = {groups[1]}  # the tokens of each word",
            f"looking = {groups[0]}",
            "weights = torch.stack([weights[:, :, word].sum(-1) for word in looked_at], -1)  # to a word: the sum",
            "weights = torch.stack([weights[:, word].mean(1) for word in looking], 1)  # from a word: the mean",
        ]
    if view.hides_special:
        kept = [
            [place for place, group in enumerate(own) if not side.special[group[0]]]
            for own, side in zip(groups, (stack.query_tokens, stack.key_tokens), strict=True)
        ]
        lines += [
            f"weights = weights[:, {kept[0]}][:, :, {kept[1]}]  # special tokens are left out",
            "weights = (weights / weights.sum(-1, keepdim=True)).nan_to_num(0)  # rows sum to 1 again",
        ]
    lines.append("weights = weights.mean(0)")
    if exported.padding:
        lines.append("weights = torch.cat([weights, (1 - weights.sum(-1, keepdim=True)).clamp(min=0)], -1)  # to [PAD]")
    return lines


def input_lines(interventions: Sequence[Intervention]) -> list[str]:
    """Return the code by which interventions change a run's `inputs` and the model's embeddings."""
    lines, padding = [], unmasked_padding(interventions)
    if padding:
        lines += [
            f'filler = {{"input_ids": tokenizer.pad_token_id or 0, "attention_mask": 1}}  # {padding} [PAD], not masked',
            'for name in [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in inputs]:',
            f"    more = torch.full((1, {padding}), filler.get(name, 0))",
            "    inputs[name] = torch.cat([inputs[name], more], dim=1)",
        ]
    if not reads_positions(interventions):
        lines.append("model.base_model.embeddings.position_embeddings.weight.data.zero_()  # no positions")
    return lines


def intervention_lines(trace: Trace) -> list[str]:
    """Return the code of an attention function with the run's interventions, and of its registration with the model.

    It also changes the `inputs` of the run, where an intervention does so.
    """
    needs_sparse = any(one.kind == "sparse" for one in trace.interventions)
    return [
        *(NOT_IN_CODE.format(change=one) for one in trace.interventions if one.replaces),
        *CHANGED_ATTENTION.splitlines(),
        *(SPARSEMAX.splitlines() if needs_sparse else []),
        "",
        "ALL = slice(None)  # every head",
        "CHANGES = {  # by the number of the attention, in the order in which they are computed",
        *_changes(trace),
        "}",
        'AttentionInterface.register("changed", attention)',
        'AttentionMaskInterface.register("changed", eager_mask)',
        'model.set_attn_implementation("changed")',
        *input_lines(trace.interventions),
    ]


def _changes(trace: Trace) -> list[str]:
    """Return the changes of each attention as code, in the order in which the library computes them."""
    counts = [len(stack.weights) for stack in trace.stacks]
    order = [(layer, "self") for layer in range(counts[0])]
    if len(counts) > 1:
        for layer in range(counts[1]):
            order += [(counts[0] + layer, "decoder"), (counts[0] + counts[1] + layer, "cross")]
    lines = []
    for number, (layer, kind) in enumerate(order):
        if interventions := effective(trace.interventions, layer, kind):
            written = ", ".join(f'"{name}": {value}' for name, value in _arguments(interventions).items())
            lines.append(f"    {number}: {{{written}}},")
    return lines


def _arguments(interventions: Sequence[Intervention]) -> dict[str, str]:
    """Write the interventions on one attention as an entry of CHANGES, which the attention function reads."""
    arguments = {}
    for kind in ("off", "uniform", "hidden", "cut"):
        if places := [(one.head, *one.positions) for one in interventions if one.kind == kind]:
            arguments[kind] = _listed(places)
    for one in interventions:
        if one.kind == "causal":
            arguments["causal"] = "True"
        elif one.kind == "temperature":
            arguments["temperature"] = repr(one.value)
        elif one.rule.setting == "normaliser":
            arguments["normalise"] = f"{one.kind}max"
    return arguments


def _listed(places: Sequence[tuple[int | None, ...]]) -> str:
    """Write places as a list; a head of None is every head."""
    rows = sorted(places, key=repr)
    written = [", ".join("ALL" if part is None else str(part) for part in row) for row in rows]
    return f"[{', '.join(part if len(row) == 1 else f'({part})' for part, row in zip(written, rows, strict=True))}]"


def stack_of(trace: Trace, kind: str) -> AttentionStack:
    """Return the attention of a kind."""
    return next(stack for stack in trace.stacks if stack.kind == kind)
