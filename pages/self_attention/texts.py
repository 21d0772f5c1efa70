"""All that the page of self-attention says."""

INTRO = (
    "Each token has three vectors: its **query** says what it looks for, its **key** what it can be found by, and its **value** "
    "what it passes on. The better a query matches a key, the more of that token's value goes into the result, the **context**."
)

# The toolbar
PROJECTIONS, PROJECTION_LABELS = "Projections", {"trained": "Trained", "random": "Random", "none": "None"}
ATTENTION, NORMALISE_LABELS = "Attention", {"softmax": "Soft", "sparsemax": "Sparse", "hardmax": "Hard"}
NORMALISE_HELP = (
    "How scores become weights. Soft (softmax): every token gets some. Sparse (sparsemax): low scores get exactly 0. Hard "
    "(argmax): the highest score gets everything."
)
SCALED, SCALED_HELP = "Scaled", "Divide the dot products by √d."
CAUSAL, CAUSAL_HELP = "Causal mask", "No token may attend to a later one."

# The letters of the equation
LETTERS = {
    "trained": "Each row of $X$ is the vector of a token. "
    "Its projections are $Q = X W_Q + b_Q$, $K = X W_K + b_K$ and $V = X W_V + b_V$.",
    "random": "Each row of $X$ is the vector of a token. Its projections are $Q = X W_Q$, $K = X W_K$ and $V = X W_V$.",
    "none": "Each row of $X$ is the vector of a token. The rows are compared with each other directly.",
}
"""By the weights chosen."""
LETTER_OF_MASK = "$M$ is 0 where a token may attend and −∞ where it may not."

# The matrices
TOKENS = "Tokens"
"""Heads the names of the rows."""
PROJECTED = ("query", "key", "value")
MATRICES = {
    "vectors": ("Vectors", "The input of layer {layer}: one row per token."),
    "query": ("Query", "What each token looks for."),
    "key": ("Key", "What each token can be found by."),
    "value": ("Value", "What each token passes on."),
    "matches": ("Dot products", "How well each query matches each key."),
    "scores": ("Scores", ""),
    "masked": ("Mask", "Which tokens each token may attend to."),
    "weights": ("Weights", "Each row sums to 1."),
    "context": ("Context", "The weighted sum of the values, for each token."),
}
"""Of each matrix, and of the step that makes it, the title and a sentence."""
TITLES, ALTS = ({name: said[place] for name, said in MATRICES.items()} for place in (0, 1))
SCALED_BY = "÷ √{size} = ÷ {root:.3g}"
NOT_SCALED = "not divided"
FUTURE_HIDDEN = "later tokens: −∞"
NOTHING_HIDDEN = "nothing hidden"
STEPS = {"vectors": "X", "matches": "X · Xᵀ", "context": "· X"}
STEPS_PROJECTED = {"vectors": "X → Q, K, V", "matches": "Q · Kᵀ", "context": "· V"}
STEP_MASK = "+ M"
FUNCTIONS = {"softmax": "softmax", "sparsemax": "sparsemax", "hardmax": "argmax"}
NORMALISERS = {"softmax": "Softmax", "sparsemax": "Sparsemax", "hardmax": "Taking the highest score alone"}

# What there is to see
NO_PROJECTIONS = (
    "Without projections, one vector serves as query, key and value, and a token is most like itself: {itself} of {tokens} "
    "tokens match themselves best here, and a token gives {share} of its attention to itself on average. Projections let it "
    "look for something else than it is."
)
RAW_PRODUCTS = (
    "It is often said that the dot product of a vector with itself is always 1. It is the squared length of the vector, here "
    "{least:.3g} to {most:.3g}, and 1 only at length 1, as in cosine similarity. So raw dot products are no weights: those of a "
    "row sum to {least_sum:.3g} to {most_sum:.3g} here, and what they mix is no average of the vectors. {normaliser} makes each "
    "row sum to 1."
)
RANDOM_PROJECTIONS = (
    "These matrices are random, so the pattern means nothing. On average, a token gives {share} of its attention to itself."
)
SCALING_OFF = (
    "Without scaling, the scores are √{size} = {root:.1f} times as large. The largest weight of a row is {share} on average; "
    "with scaling it would be {scaled}."
)
SCALING_OFF_HARD = (
    "Without scaling, the scores are √{size} = {root:.1f} times as large. Hard attention stays the same, because the highest "
    "score of a row stays the highest."
)
HARD = (
    "Hard attention gives each row's whole weight to its highest score, to the first of equal ones, and exactly 0 to all other "
    "tokens."
)
NOT_SOFT = (
    "Softmax gives every token that is not masked at least a little weight. Here, a token attends to {seen:.1f} of {tokens} "
    "tokens on average, and the others get exactly 0."
)
FIRST_SEES_ITSELF = "The mask hides later tokens, so the first token can attend to nothing but itself."

# Why scores are scaled
WHY_SCALED = "Why scores are divided by √d"
WHY_SCALED_TEXT = (
    "Random queries, with {keys} random keys each. Longer vectors have larger dot products, and without scaling softmax then "
    "gives nearly all weight to one key. Where that happens, gradients vanish: at d = {size}, a small change of a score "
    "changes its weight by only {unscaled} times as much, against {scaled} with scaling, so there is little left to learn from."
)
LARGEST_WEIGHT = "Largest weight of a row, by number of dimensions d"
NOT_DIVIDED = "not divided"
DIVIDED = "divided by √d"
DIMENSION = "d = {step}"

# The store of keys and values
STORE = "Attention as a soft dictionary lookup"
STORE_TEXT = (
    "A dictionary returns the value whose key equals the query. Attention compares the query with every key and returns a "
    "weighted sum of all values: the better a key matches, the more its value counts. Change any number and look it up again. "
    "The dot products are divided by √64 = 8, as in the original transformer, whose keys had 64 numbers. With √3, for these "
    "keys of 3 numbers, the weights of the queries offered below would change by less than 0.0001, because one score is far "
    "above the others or two are equal; for the query (0, 1, 0), the largest weight would rise from 0.54 to 0.99."
)
STORE_TABLE = "**Keys and values** (1 to {rows} rows)"
STORE_COLUMNS = {"key": "key {number}", "value": "value {number}"}
QUERY = "**Query**"
QUERY_NUMBER = "Number {number}"
FOUND = "The lookup returns **({numbers})**. Weights: {weights}."
ROW_WEIGHT = "row {row}: {weight:.3f}"
STORE_ROW = "row {row}"
STORE_QUERY = "query"
STORE_TITLES = {
    "query": "Query",
    "key": "Keys",
    "matches": "Dot products",
    "scores": "Scores",
    "weights": "Weights",
    "value": "Values",
    "result": "Result",
}

EXPORT_TITLE = "Self-attention step by step: layer {layer}, head {head}"
EXPORT_SATURATION = "Largest attention weight of random vectors, with and without division by √d"
EXPORT_STORE = "Attention as a soft dictionary lookup"
