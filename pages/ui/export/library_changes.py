"""Python for what was changed in a run, by an attention of its own that the transformers library is given."""

from tx_core.transformer.interventions import Interventions
from tx_core.transformer.trace import Trace

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


def changed_attention(trace: Trace) -> list[str]:
    """Write an attention that does what was changed in a run, and let the model use it."""
    needs_sparse = any(value == "sparse" for _, value in trace.interventions.normalisers)
    return [
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
    ]


def _changes(trace: Trace) -> list[str]:
    """Write what is changed in each attention, in the order in which the library computes them."""
    counts = [len(stack.weights) for stack in trace.stacks]
    order = [(layer, "self") for layer in range(counts[0])]
    if len(counts) > 1:
        for layer in range(counts[1]):
            order += [(counts[0] + layer, "decoder"), (counts[0] + counts[1] + layer, "cross")]
    changes: Interventions = trace.interventions
    lines = []
    for number, (layer, kind) in enumerate(order):
        change = changes.at(layer, kind)
        if change is None:
            continue
        parts = {
            "off": _listed((head,) for head in change.off),
            "uniform": _listed((head,) for head in change.uniform),
            "hidden": _listed(change.hidden),
            "cut": _listed(change.cut),
            "temperature": repr(change.temperature) if change.temperature != 1 else "",
            "normalise": {"sparse": "sparsemax", "hard": "hardmax", None: ""}[change.normaliser],
        }
        written = ", ".join(f'"{name}": {value}' for name, value in parts.items() if value)
        lines.append(f"    {number}: {{{written}}},")
    return lines


def _listed(places: object) -> str:
    """Write places as a list, "" for none; a head of None is every head."""
    rows = sorted(tuple(places), key=repr)
    written = [", ".join("ALL" if part is None else str(part) for part in row) for row in rows]
    if not written:
        return ""
    return f"[{', '.join(part if len(row) == 1 else f'({part})' for part, row in zip(written, rows, strict=True))}]"
