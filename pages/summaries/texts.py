"""Every sentence of the page and of its exports."""

from pages.ui.stage.texts import EXPLANATION_DEBATE

FIRST_TEXT = "The old man drank a cup of [MASK] by the fire."
PART = "Part"
HEAD_LIST = "Head"

KINDS_TITLE = "Heads at a glance"
KINDS = "**Colour and word show what each head mostly does.** Choose one to read more."
KINDS_SENTENCE = "A deeper colour means a clearer pattern."
COLOUR_BY = "Colour by"
COLOURS = {"pattern": "Kind of head", "grammar": "Grammar", "entropy": "Spread (entropy)", "distance": "Distance"}
CONFIDENCE = "{head}: {kind}, confidence {confidence:.2f}"
SEE_HEAD = "See this head in detail"
KINDS_NUMBERS = (
    "Shares are of the attention of all of the text's own tokens, spread and distance are means over the same tokens. One link "
    "may count for two kinds. Confidence counts only tokens that have such a target: the last word has no token after it."
)
KINDS_CAVEAT = (
    "The kinds are rules made by people, applied to one text: a head may do something else in another text, and the rules "
    "know only a few patterns. Grammar was measured on a treebank, not on this text. "
    f"{EXPLANATION_DEBATE}"
)
SPECIAL_TOKENS_ONLY = "This text holds special tokens only, and heads are classified by what words do: type a word."
KINDS_SUBJECTS = {name: f"All heads: {colour.lower()}" for name, colour in COLOURS.items()}

ROLLOUT_BUTTON = "Rollout and flow"
ROLLOUT = "**How much of each input token has arrived in each layer?**"
ROLLOUT_TEXT = (
    "A token in layer 3 attends to the outputs of layer 2, which are mixtures already. Attention rollout multiplies the layers; "
    "attention flow takes the weights as capacities of a network and asks how much can flow through it. Both average the heads, "
    "and count half of every token's path as its residual connection."
)
ASK_QUERY = "Query token"
IN_LAYER, ROLLED, FLOW = "Attention in this layer", "Rollout from the input", "Flow from the input"
LAYER = "layer {layer}"
ROLLOUT_CELL = "{row} from {column}"
LAST_LAYER = "Largest at {token} in the last layer: {shares}."
ROLLOUT_CAVEAT = (
    "Flow is scaled so that each row sums to 1. It is more even than rollout in the sentences that we tried: nearly every "
    "connection has enough capacity. Both leave out what values, feed-forward layers and layer norms do to the vectors "
    "(Abnar & Zuidema 2020): they estimate which tokens have arrived, not what is made of them. "
    f"{EXPLANATION_DEBATE}"
)
ROLLOUT_SUBJECT = "Attention of {token} through the layers"

VALUES_TITLE = "Value-weighted attention"
VALUES = "**A head can attend to a token and take almost nothing from it.**"
VALUES_TEXT = (
    "A weight says how much of a token is taken; what is taken is its **value** vector, and values differ in length. "
    "So weight each link by the vector that it adds."
)
HEAD_WEIGHTS = "Weights, {head}"
HEAD_BY_VALUES = "Weighted by values, this head"
LAYER_BY_VALUES = "Weighted by values, all heads of layer {layer}"
ROWS_SUM_TO_1 = "every row sums to 1"
LENGTHS = (
    "{head}: the longest value is that of {longest} ({longest_length:.2f}), the shortest that of {shortest} "
    "({shortest_length:.2f}). The largest difference is at {moved}: on average over all queries, it receives {weight:.2f} of the "
    "attention and contributes {share:.2f} of what the head adds to a query. Of everything that the head adds to all queries "
    "together, its share is {total:.2f} (a query to which the head adds more counts more)."
)
VALUES_COLUMNS = (
    "token",
    "mean attention received",
    "value length",
    "mean share of what the head adds",
    "share of all that the head adds",
)
VALUES_CAVEAT = (
    "Lengths show how much a head writes into a token, not in which direction or what later layers make of it. The layer norm "
    "that follows is left out (Kobayashi et al. 2020 and 2021). "
    f"{EXPLANATION_DEBATE}"
)
VALUES_SUBJECT = "Attention weights and value-weighted attention, {head}"

SINKS_TITLE, SINKS_BUTTON = "Attention sinks", "Sinks"
SINKS = "**Much attention rests on tokens that say nothing.** How much is taken from them?"
ON_SINKS, VALUE_LENGTHS = "Mean share of attention", "Mean length of value vectors"
EVEN_LINE, OTHER_TOKENS = "if attention were even", "other tokens"
SINKS_SHARE = "Most in layer {layer}: other tokens give {share} of their attention to {sinks}. Even attention would give {even}."
SINKS_LENGTHS = (
    "In layer {layer}, value vectors of {sinks} have a mean length of {short:.2f}, those of other tokens of {others:.2f}."
)
IF_FORBIDDEN = "And if that attention had to go elsewhere?"
FORBID_SINKS = "Forbid attention to {sinks}"
SINKS_TEXT = (
    "A token with much attention and short value vectors is an **attention sink**: a head that finds nothing there for it can "
    "rest on such a token and add almost nothing (Clark et al. 2019; Xiao et al. 2024)."
)
SINKS_FOUND = (
    "In the first example of this page, layer 5 does so: 73 % of the other tokens' attention, for vectors of length 0.52 against "
    "4.17. Layer 1 does not: 19 %, hardly more than even attention, for vectors of length 2.75 against 3.47.",
    "Nothing to take does not mean nothing to lose: with both tokens forbidden, that attention must go to words, and “coffee” "
    "falls from 37 % to 15 %, and “wine” comes first. With [SEP] alone forbidden it stays at 37 %: [CLS] "
    "takes its place, with 74 % of the attention in layer 5.",
)
SINKS_NUMBERS = "Lengths are means over the tokens of each kind. The drawing shows the means of all heads of a layer."
SINKS_CAVEAT = (
    "Special tokens, or the first token of a text without any, are taken as sinks whatever they do: a head that gathers a whole "
    "sentence in [CLS] looks the same. Attention is that of the other tokens; what the output projection makes of a value is "
    "left out (see Value-weighted attention). "
    f"{EXPLANATION_DEBATE}"
)

SIMILARITY_TITLE = "Head similarity"
SIMILARITY = "**Heads that are close on the map attend alike**, as far as two dimensions can show it."
SIMILARITY_TEXT = (
    "Two heads are similar if every token distributes its attention in the same way in both (Jensen–Shannon divergence). "
    "Colours and shapes are the kinds of “Heads at a glance”, without those of grammar."
)
NEAREST_TITLE = "Nearest to {head}"
SIMILARITY_COLUMNS = ("head", "kind", "similarity (0 to 1)")
MAP_CORRELATION = (
    "Distances on the map correlate with the true ones at {correlation:.2f} (1 at best): trust the table where they differ."
)
SIMILARITY_CAVEAT = (
    "The map is classical multidimensional scaling (MDS) of many dimensions to two. Two heads that attend to the same tokens "
    "need not take the same from them. "
    f"{EXPLANATION_DEBATE}"
)
SIMILARITY_TO_CHOSEN = "similarity to the chosen head"

LENS_BUTTON = "Logit lens"
LENS = "**What would the model answer if it had to answer early?**"
LENS_TEXT = (
    "A model's prediction head reads a word off the vectors of the last layer: the masked-word head at a blank, a language-model "
    "head after a token. Let it read every earlier layer too, and you see the prediction emerge."
)
ASK_TOKEN = "Token"
EMBEDDINGS, AFTER_LAYER = "embeddings", "after layer {layer}"
RANK, FINAL_RANK = "{rank}.", "rank of the final answer"
ANSWER = "At {token} the model's own answer, {answer}, has {probability} after the last layer."
ANSWER_NEXT_TOKEN = "After {token} the model's own answer, {answer}, has {probability} after the last layer."
FIRST_FROM_LAYER = "It ranks first from layer {layer} on."
FIRST_FROM_EMBEDDINGS = "It ranks first from the embeddings on."
FINAL_PROBABILITY, PROBABILITY = "Probability of the final answer", "probability"
AFTER_STEP = "layer {step}"
LENS_CAVEAT = (
    "The head was trained to read the last layer only: a strange word early on may mean that the layer uses another "
    "representation, not that it knows nothing. What can be read off a layer need not be what later layers use "
    "(nostalgebraist 2020; Belrose et al. 2023)."
)
LENS_SUBJECT = "Layer-by-layer predictions at {token}"

ATTRIBUTION_BUTTON = "Gradients"
ATTRIBUTION = "Where did the blank look, and **what does the answer depend on?**"
ATTRIBUTION_TEXT = (
    "Gradients tell how much the answer's log-probability would change if a word's vector did. Integrated gradients add this up "
    "on the way from the text with every word blanked to the text as it is."
)
SINGLE_SENTENCE = "Predictions are explained in a single sentence here: leave the second sentence empty."
ASK_ANSWER = "Answer to explain"
ANSWER_OPTION = "{word} ({probability})"
BLANK_ATTENTION, GRADIENT_INPUT, INTEGRATED = "Attention from the blank", "Gradient × input", "Integrated gradients"
ATTRIBUTIONS = (
    "Knowing the words changes the log-probability of {word} from {baseline} to {score}, by {change}. Integrated gradients sum "
    "to {total}. Over your other words, the order by attention agrees with the order by the size of integrated gradients, signs "
    "aside, to {integrated}, and with the order by the size of gradient × input to {gradient_input} (Kendall's tau: 1 is the "
    "same order, 0 is no relation)."
)
ATTRIBUTION_CAVEAT = (
    "The bars of integrated gradients sum to what knowing the words changed, to within 0.02 in the sentences that we tried, and "
    "show each word's share of it. Another baseline "
    "than blanks would divide it otherwise, and words that matter only together split what they do. Gradient × input uses the "
    "slope at the text itself and can miss a word that has already convinced the model (Sundararajan et al. 2017). Attention is "
    "the mean of all heads and layers. "
    f"{EXPLANATION_DEBATE}"
)
ATTRIBUTION_SUBJECT = "What “{word}” depends on"
