"""Every sentence of the page and of its exports. Tables go by view."""

FIRST_TEXT = "Time flies like an arrow."
ASK_VIEW = "View"
VIEWS = {"head": "Head view", "model": "Model view", "neuron": "Neuron view"}
DESCRIPTIONS = {
    "head": "All heads of a layer at once, one colour each: a line is the stronger the more the left token attends to the right "
    "one. Point at a token to follow it; click a colour to switch a head off, twice to see it alone.",
    "model": "A small picture for every head, one row per layer: look for patterns that repeat. Click one to enlarge it.",
    "neuron": "How one head computes its weights: point at a token and click its + to see its query, the keys of all tokens, and "
    "their products dimension by dimension (blue: positive, orange: negative).",
}
LAYER, HEAD, LAYERS, HEADS = (f"{name} (from 0)" for name in ("Layer", "Head", "Layers", "Heads"))
ALT = "bertviz: {view} of {tokens} tokens"
LAST_LAYER = "There are {layers} layers here: the last one is shown instead of layer {layer:,}."
ONE_LAYER = "All {layers} layers at once would be too heavy for a browser at this length: one layer at a time is drawn."
COUNTED_FROM_0 = (
    "The picture is bertviz's own: its numbers of layers and heads count from 0, so its layer 0, head 0 is layer 1, head 1 "
    "everywhere else in this app."
)
BIAS = "This model adds a bias to each product of a query and a key, mostly by their distance. bertviz does not show it."
NO_CROSS_ATTENTION = "The neuron view draws attention within one text only: it has no picture for attention from decoder to text."
TOO_HEAVY = (
    "bertviz draws a line for every pair of tokens in every head: here {heads} × {queries} × {keys} for a single layer, and a "
    "browser freezes over so many. Shorten the text, choose a smaller model, or look at this text on the attention page."
)
TOO_LARGE = "This drawing is too large to be kept: shorten the text."

EXPORT_TITLE, EXPORT_LAYER = "{view} of bertviz", "layer {layer}"
EXPORT_COUNTED_FROM_0 = "Layers and heads are counted from 0 in it."
