"""Python for the parts of the summaries page by transformers alone."""

from typing import TYPE_CHECKING

from pages.summaries.families import FAMILIES
from pages.ui.export.library_snippet import imports, run_lines
from pages.ui.shell.plain_names import one_line
from tx_core.analysis.attribution import STEPS

if TYPE_CHECKING:
    from tx_core.analysis.attribution import Attribution
    from tx_core.transformer.trace import Trace

MLM = "AutoModelForMaskedLM"
GLANCE = """
weights = torch.stack(list(layers))[:, 0].numpy()  # layer, head, query, key
rows = weights[:, :, OWN]
entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(-1)
spread = (entropy / np.log(max(rows.shape[-1], 2))).mean(-1)  # 0: on one token, 1: the same to all
apart = np.abs(np.arange(rows.shape[-1]) - np.array(OWN)[:, None])
distance = (rows * apart).sum(-1).mean(-1)  # in tokens

print(spread.round(3), distance.round(2), sep="\\n")
"""
LAYERS = """
mean = torch.stack(list(layers))[:, 0].numpy().mean(1)  # layer, query, key
in_layer = mean[:, PLACE]
mixed = 0.5 * mean + 0.5 * np.eye(mean.shape[-1])  # half of every token's way is its skip connection
mixed = mixed / mixed.sum(-1, keepdims=True)
reached = [mixed[0]]
for layer in mixed[1:]:
    reached.append(layer @ reached[-1])
rolled = np.stack(reached)[:, PLACE]

print(in_layer.round(3), rolled.round(3), sep="\\n")
"""
VALUES = """
every = layers[LAYER][0].double()  # head, query, key
with torch.inference_mode():
    value = VALUE.double()
value = value.view(len(value), len(every), -1).transpose(0, 1)  # head, token, head_dim
output = OUTPUT.detach().double()
output = output.reshape(len(every), -1, output.shape[-1])  # head, head_dim, hidden
mixed = every[..., None] * (value @ output)[:, None]  # head, query, key, hidden


def shares(lengths):
    total = lengths.sum(-1, keepdim=True)
    return lengths / total.where(total > 0, 1)


weights = every[HEAD]
by_values = shares(mixed[HEAD].norm(dim=-1))
together = shares(mixed.sum(0).norm(dim=-1))

print(weights, by_values, together, sep="\\n")
"""
ALIKE = """
weights = torch.stack(list(layers))[:, 0].numpy()  # layer, head, query, key
heads = weights.reshape(-1, *weights.shape[2:])


def bits(rows):
    return -(rows * np.log2(np.where(rows > 0, rows, 1))).sum(-1)


chosen = heads[CHOSEN]
alike = 1 - (bits((heads + chosen) / 2) - (bits(heads) + bits(chosen)) / 2).mean(-1)  # 1 - the Jensen-Shannon divergence

print(alike.round(3))
"""
LENS = """
with torch.inference_mode():
    scores = HEAD  # step, vocabulary
best = scores.softmax(-1).topk(LISTED)
shares, words = best.values, [tokenizer.convert_ids_to_tokens(row) for row in best.indices]
answer = best.indices[-1, 0]
probability = scores.softmax(-1)[:, answer]
rank = (scores > scores[:, answer, None]).sum(-1) + 1

print(*words, shares, probability, rank, sep="\\n")
"""
OWED = """
attention = torch.stack(list(layers))[:, 0, :, PLACE].mean((0, 1))  # of all layers and heads
lookup = model.get_input_embeddings()
vectors = lookup(inputs.input_ids).detach()
blanked = lookup(torch.tensor([BLANKED])).detach()  # the text with all its words blanked
others = {name: given for name, given in inputs.items() if name != "input_ids"}


def slope(at):
    at = at.clone().requires_grad_(True)
    shares = model(inputs_embeds=at, **others).logits[0, PLACE].log_softmax(-1)
    return torch.autograd.grad(shares[WORD], at)[0]


gradient_input = (slope(vectors) * vectors).sum(-1)[0]
points, steps = np.polynomial.legendre.leggauss(STEPS)
way = vectors - blanked
path = sum(float(step) / 2 * slope(blanked + (float(point) + 1) / 2 * way) for point, step in zip(points, steps))
integrated = (path * way).sum(-1)[0]

print(attention, gradient_input, integrated, sep="\\n")
"""


def library_glance(title: str, trace: "Trace") -> str:
    """Write how widely and how far each head looks, without this project."""
    own = [place for place, special in enumerate(trace.attention.query_tokens.special) if not special]
    return _library(title, trace, run_lines(trace), [f"OWN = {own}  # the text's own tokens", *GLANCE.strip().splitlines()])


def library_layers(title: str, trace: "Trace", place: int) -> str:
    """Write attention and rollout of one token without this project (Abnar & Zuidema 2020)."""
    return _library(title, trace, run_lines(trace), [f"PLACE = {place}  # of the token that looks", *LAYERS.strip().splitlines()])


def library_values(title: str, trace: "Trace", head: tuple[int, int], family: str) -> str:
    """Write the lengths of what a head mixes without this project (Kobayashi et al. 2020)."""
    code = FAMILIES[family]
    chosen = [f"LAYER, HEAD = {tuple(head)}  # counted from 0", code.attention]
    lines = VALUES.replace("VALUE", code.value).replace("OUTPUT", code.output).strip().splitlines()
    return _library(title, trace, run_lines(trace, hidden=True), [*chosen, *lines])


def library_alike(title: str, trace: "Trace", chosen: int) -> str:
    """Write how much a head is like every other without this project (Lin 1991)."""
    lines = [f"CHOSEN = {chosen}  # counted from 0 through the layers", *ALIKE.strip().splitlines()]
    return _library(title, trace, run_lines(trace), lines)


def library_lens(title: str, trace: "Trace", place: int, listed: int, family: str) -> str:
    """Write the answers of every layer without this project (nostalgebraist 2020)."""
    code = FAMILIES[family]
    normed = f"states = torch.cat([{code.norm}(states[:-1]), states[-1:]])  # the last are normed already"
    lines = [
        f"PLACE, LISTED = {place}, {listed}  # of the token; how many favourites",
        "states = hidden[:, PLACE]",
        *([normed] if code.norm else []),
        *LENS.replace("HEAD", code.head).strip().splitlines(),
    ]
    return _library(title, trace, run_lines(trace, hidden=True, model=code.loader), lines, model=code.loader)


def library_owed(title: str, trace: "Trace", found: "Attribution", word: int) -> str:
    """Write attention and gradients of an answer without this project (Sundararajan et al. 2017)."""
    encoding = found.encoding
    mask = encoding.ids[found.place]
    blanked = [entry if special else mask for entry, special in zip(encoding.ids, encoding.special, strict=True)]
    lines = [f"PLACE, WORD, BLANKED, STEPS = {found.place}, {word}, {blanked}, {STEPS}", *OWED.strip().splitlines()]
    return _library(title, trace, run_lines(trace, model=MLM), lines, model=MLM)


def _library(title: str, trace: "Trace", run: list[str], lines: list[str], model: str = "AutoModel") -> str:
    first = [f"# {one_line(title)}, with transformers alone.", "import numpy as np", *imports(trace, model=model)]
    return "\n".join([*first, "", *run, "", *lines, ""])
