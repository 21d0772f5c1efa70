"""Python for the map on the screen that needs nothing but torch and the transformers library."""

from pages.ui.export.carried import Carried
from pages.ui.export.library_changes import changed_attention
from pages.ui.shell.plain_names import one_line
from tx_core.analysis.views import word_groups
from tx_core.engine import catalogue
from tx_core.engine.tokenizer import BLANK
from tx_core.transformer.interventions import UNCHANGED
from tx_core.transformer.trace import Encoding, Trace

OUTPUTS = {"self": "attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


def library_snippet(carried: Carried) -> str:
    """Write the code that computes the map without this project, all that changes its numbers included."""
    return "\n".join(
        [
            f"# {one_line(carried.title)}, with transformers alone.",
            *imports(carried.trace),
            "",
            *run_lines(carried.trace, carried.shown.view.kind),
            *_shown(carried),
            "",
            "print(weights)",
            "",
        ]
    )


def imports(trace: Trace) -> list[str]:
    """Write what the code for a run imports."""
    changed = trace.interventions != UNCHANGED
    return [
        "import torch",
        f"from transformers import {'AttentionInterface, AttentionMaskInterface, ' if changed else ''}AutoModel, AutoTokenizer",
        *(["from transformers.masking_utils import eager_mask"] if changed else []),
    ]


def run_lines(trace: Trace, kind: str) -> list[str]:
    """Write what loads a model and runs it; `layers` are then the weights of every layer of one kind of attention."""
    return [*loading(trace.model), *_inputs(trace), *_run(trace, kind)]


def loading(model: str, kind: str = "AutoModel") -> list[str]:
    """Write how the library loads a model and its tokenizer, at the commit that this project holds it to."""
    card = catalogue.card(model)
    source = "assets/models/embedded" if card.hub_id is None else card.hub_id
    revision = f', revision="{card.revision}"' if card.revision else ""
    here = "  # a folder of this project" if card.hub_id is None else ""
    return [
        f'checkpoint = "{source}"{here}',
        f"tokenizer = AutoTokenizer.from_pretrained(checkpoint{revision})",
        f'model = {kind}.from_pretrained(checkpoint{revision}, dtype=torch.float32, attn_implementation="eager")',
        "",
    ]


def _inputs(trace: Trace) -> list[str]:
    source, read = trace.attention.query_tokens, [stack.query_tokens for stack in trace.stacks]
    text, pair = (own_blanks(sentence, *read) for sentence in (source.text, source.pair or ""))
    several = len(trace.stacks) > 1
    given = ", ".join([repr(text), *([repr(pair)] if pair and not several else [])])
    named = ""
    if 1 in trace.attention.query_tokens.segments:  # GPT-2 would take them for words
        named = ', return_token_type_ids=(getattr(model.config, "type_vocab_size", None) or 0) > 1'
    lines = [f'inputs = tokenizer({given}, return_tensors="pt"{named})']
    if several:
        start, written = read[1].ids[0], "" if len(read[1]) == 1 else f", *tokenizer({(pair or text)!r}).input_ids[:-1]"
        lines.append(f'inputs["decoder_input_ids"] = torch.tensor([[{start}{written}]])  # the start, then what it has written')
    return lines


def own_blanks(sentence: str, *read: Encoding) -> str:
    """Write blanks as the model's own mask token. read: what the model read, which has the token where there are any."""
    masks = [encoding.tokens[place] for encoding in read for place in encoding.blanks]
    return BLANK.sub(masks[0], sentence) if masks else sentence


def _run(trace: Trace, kind: str) -> list[str]:
    if trace.interventions == UNCHANGED:
        return [
            "with torch.inference_mode():",
            "    output = model(**inputs, output_attentions=True)",
            f"layers = {attentions(trace, kind)}",
        ]
    layers = trace.stacks[0].weights.shape[0]
    which = {"self": f"[:{layers}]", "decoder": f"[{layers}::2]", "cross": f"[{layers + 1}::2]"}[kind]
    return [
        *changed_attention(trace),
        "with torch.inference_mode():",
        "    output = model(**inputs, use_cache=False)",
        f"layers = seen{which}",
    ]


def attentions(trace: Trace, kind: str) -> str:
    """Name what the library gives of one kind of attention."""
    return f"output.{'encoder_attentions' if kind == 'self' and len(trace.stacks) > 1 else OUTPUTS[kind]}"


def _shown(carried: Carried) -> list[str]:
    """Write what the page does to the weights: heads chosen, words merged, special tokens left out, the mean taken."""
    view, trace = carried.shown.view, carried.trace
    stack = next(stack for stack in trace.stacks if stack.kind == view.kind)
    chosen = ", ".join(f"layers[{layer}][0, {head}]" for layer, head in carried.shown.heads)
    lines = [f"weights = torch.stack([{chosen}])  # head, query, key; layers and heads are counted from 0"]
    groups = [[[place] for place in range(len(side))] for side in (stack.query_tokens, stack.key_tokens)]
    if carried.options.words:
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
    return [*lines, "weights = weights.mean(0)"]
