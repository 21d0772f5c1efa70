"""All that the page of heads and blocks says."""

EMBEDDINGS, HEADS, FEED_FORWARD, PREDICTION = "Embeddings", "Attention", "Feed-forward", "Prediction"
PATH, PATH_SAID = "A word through the layers", "A word through the layers: what each block makes of it"

# Shared by the parts
TOKENS = "Tokens"
"""Heads the names of the rows."""
MATRICES = {
    "embeddings": {
        "words": ("Word", "W[id]", "One row of the word table: the same wherever the word stands."),
        "positions": ("Position", "P[position]", "One row of the position table: the same in every text."),
        "segments": ("Segment", "S[0 or 1]", "The row of the first sentence, or of the second."),
        "sum": ("Sum", "added up", "Word, position and segment added, number by number."),
        "normed": ("Normalised", "LayerNorm", "What enters the first block."),
    },
    "heads": {
        "head": ("Head {head}", "its result", "The result of head {head} for each token."),
        "output": ("Output", "concatenated · W + b", "The results of all heads times the output projection."),
    },
    "feed": {
        "vectors": ("Vectors", "X", "The output of the attention part."),
        "widened": ("Up projection", "X · W₁ + b₁", "Each token has more numbers than before."),
        "bent": ("Activation", "{function}", "{function} of the number to the left: far below zero, almost nothing is left."),
        "output": ("Down projection", "· W₂ + b₂", "As many numbers as before."),
    },
    "norm": {
        "before": ("Before", "x", "The input of the norm."),
        "mean": ("Mean", "μ", "The mean of the row."),
        "variance": ("Variance", "σ²", "The mean squared distance from the mean."),
        "normed": ("Normalised", "(x − μ) ÷ √(σ² + ε)", "Mean 0 and variance 1 in every row."),
        "ours": ("By hand", "· γ + β", "Scaled and shifted as learned."),
        "theirs": ("PyTorch", "layer_norm", "PyTorch's own function on the same row."),
    },
}
"""Title, formula and a sentence for each matrix of a part, by its name."""
DIFFERENCE_BESIDE = "the numbers themselves go up to {size:.1f}"
NO_DIFFERENCE = "exactly the same numbers"

# Embeddings
EMBEDDINGS_TEXT = (
    "A token comes in as a number, its id in the vocabulary. Three tables are looked up: one row for the **word**, one for the "
    "**position** of the token, one for the **segment**, the sentence that it belongs to. The three are added and normalised. "
    "That is all that the first block gets to see."
)
EMBEDDINGS_FORMULA = r"x_t = \text{LayerNorm}\bigl(W[\text{id}_t] + P[t] + S[s_t]\bigr)"
TOKEN_ID = "{token} {id}"
IDS = "Ids: {ids}"
NO_WORD_TWICE = "No word occurs twice here. Write one twice and compare its two rows."
WORD_TWICE = (
    "“{token}” occurs twice here, as token {first} and token {second}. Its word row is the same both times; with position and "
    "segment added, the two rows differ by up to {difference:.2f}."
)
DROPOUT = "Dropout also belongs here. It sets random numbers to zero during training and does nothing when the model is used."

# Heads
HEADS_TEXT = (
    "One **head** projects the {size} numbers of a token down to {width} and attends with these. The block has {heads} heads, "
    "each with projections of its own. Their results are **concatenated** to {heads} × {width} = {size} numbers again, and the "
    "**output projection** mixes them."
)
HEAD_FORMULA = r"\text{{head}}_h = \text{{softmax}}\!\left(\frac{{Q_h K_h^\top}}{{\sqrt{{{width}}}}}\right) V_h\;"
HEADS_FORMULA = r"\text{{output}} = [\,\text{{head}}_1 \mid \dots \mid \text{{head}}_{{{heads}}}\,]\; W + b"
HEADS_USED = "Heads used"
NO_HEAD = "Without any head, the output is only the bias of the projection, the same for every token. Choose a head."
SHAPES = (
    "Shapes: vectors {tokens} × {size} → queries, keys and values {heads} × {tokens} × {width} each → results "
    "{heads} × {tokens} × {width} → concatenated {tokens} × {size} → output {tokens} × {size}."
)
HEADS_ADD_TEXT = (
    "The output of attention is a sum, so it can be split: **what each head adds** to a token is its own result times its own "
    "rows of the output projection. Heads differ in how much they add."
)
HEADS_ADD, HEAD_ROW, LENGTH_FORMULA = "Length of the vector that each head adds", "head {head}", "of result · W"
LENGTH_ALT = "How much a head adds to a token: the length of its vector."
ADDS_SIGN, ADDS_TITLE, JOINED_SIGN = "head by head", "What each adds", "joined · W + b"
HEAD_ADDS_MOST = (
    "The longest vector is added by head {head} to “{token}”: length {length:.2f}. On average over the tokens, head {most} adds "
    "most ({most_mean:.2f}) and head {least} least ({least_mean:.2f})."
)
HEADS_SUM = "Heads and bias added up, compared with the output"
HEADS_CHOSEN, HEADS_CHOSEN_NOTE = "Output of the chosen heads, compared with all", "mean cosine: 1 means the same direction"

# Feed-forward
FEED_FORWARD_TEXT = (
    "Attention has moved information between tokens; the **feed-forward** layer works on each token by itself. An up projection "
    "turns {size} numbers into {inner:,}, an activation function passes the positive ones on and little or nothing of the "
    "negative ones, and a down projection leads back to {size}. Every position is treated the same, so this is also a "
    "**convolution of width 1** over the sentence."
)
FEED_FORWARD_FORMULAS = (
    r"\text{FFN}(x) = \text{GELU}(x W_1 + b_1)\, W_2 + b_2\;",
    r"\text{GELU}(z) = z\,\Phi(z)",
    r"\text{ReLU}(z) = \max(0, z)",
)
ACTIVATION = "Activation function"
ACTIVATIONS = {"gelu": "GELU", "relu": "ReLU"}
ACTIVATION_HELP = "This model was trained with GELU. See what ReLU does with the same weights."
BELOW_ZERO = {
    "gelu": (
        "{share} of the numbers after the up projection are below zero. GELU makes each a number from −0.17 to 0, but they are "
        "many: together they make up {carried} of all that is passed on (by absolute value)."
    ),
    "relu": "{share} of the numbers after the up projection are below zero and become exactly 0.",
}
CONVOLUTION_TEXT = (
    "**The same result in two ways.** The convolution slides a window of one token over the sentence; its kernels are the "
    "weights of the two linear layers."
)
CONVOLUTIONS, DIFFERENCE, LINEAR_LAYERS = "Two 1×1 convolutions", "Difference", "Two linear layers"
DIFFERENCE_NOTE = "on the same colour scale"
FIRST_DIMENSIONS = "the first {shown} of {size} dimensions"
DIMENSION = "{row} dimension {column}"
CONVOLUTION_DIFFERENCE = "Linear layers compared with convolutions, all dimensions"
ALONE, ALONE_NOTE = "Each token alone, compared with all at once", "no token affects another"

# Layer norm
NORM_TEXT = (
    "Numbers that are added block after block would drift. **Layer norm** brings each token's vector back: subtract its mean, "
    "divide by its standard deviation, then scale and shift each dimension by what the model has learned (γ and β)."
)
NORM_FORMULAS = (
    r"y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i \qquad \varepsilon = 10^{-12}",
    r"\mu = \tfrac{1}{d}\textstyle\sum_i x_i \quad \sigma^2 = \tfrac{1}{d}\textstyle\sum_i (x_i - \mu)^2",
)
WHICH_NORM = "Norm"
NORMS = {"attention": "After attention", "feed_forward": "After feed-forward", "embeddings": "After the embeddings"}
STATISTICS = "Mean and variance"
NORM_DIFFERENCE = "By hand compared with PyTorch, all tokens and dimensions"

# Residual connections
DEPTH_TEXT = (
    "A part of a block does not replace its input, it **adds** to it: the residual (or skip) connection. The norm can come after "
    "the sum (**post-norm**, as in BERT) or before the part (**pre-norm**, as in GPT-2 and later models). With two or three "
    "untrained blocks the gradient hardly shrinks at any depth; with {blocks}, it falls below half of its size in a post-norm "
    "stack, and not at all in a pre-norm one."
)
DEPTH_FORMULAS = (
    r"\text{post-norm: } x \leftarrow \text{LayerNorm}\bigl(x + \text{part}(x)\bigr)",
    r"\text{pre-norm: } x \leftarrow x + \text{part}\bigl(\text{LayerNorm}(x)\bigr)",
)
CUT = "Cut the residual connections"
POST_NORM, PRE_NORM = "post-norm", "pre-norm"
POST_NORM_BLOCK, PRE_NORM_BLOCK = "Block {number}: post-norm", "A pre-norm block, for comparison"
WARM_UP = (
    "That is one reason for the **warm-up** of models like BERT: with post-norm, the blocks near the end begin with large "
    "gradients and the first ones with small ones, so training starts with small steps that grow. With pre-norm, Xiong et al. "
    "2020 trained as well without."
)
MEAN_LENGTH = "Mean length of the vectors"
SIMILARITY = "Similarity of the tokens (mean cosine)"
GRADIENT = "Gradient size (1 at the end)"
WITHOUT_RESIDUALS = (
    "Without residual connections, the vectors of all tokens soon point in the same direction (mean cosine {post} with post-norm "
    "and {pre} with pre-norm after {blocks} blocks): attention only ever averages, and the words are lost."
)
WITH_RESIDUALS = (
    "Pre-norm vectors grow from {pre_start:.1f} to {pre_end:.1f}, because nothing shrinks the sum. Post-norm vectors stay at "
    "{post_end:.1f}, the square root of their size.",
    "Every post-norm also shrinks the residual, so the tokens end at a mean cosine of {post_similarity:.2f}; with pre-norm at "
    "{pre_similarity:.2f}.",
    "With post-norm the gradient falls to {post_gradient:.2f} at some depth, with pre-norm no lower than {pre_gradient:.2f}.",
)
TRAINED = "Your sentence in {model}."
AS_TRAINED, RESIDUALS_CUT = "as trained", "residual connections cut"
TRAINED_SIMILARITY = "Similarity of the tokens after each block (mean cosine)"
TRAINED_NOTE = (
    "As trained, the tokens end at a mean cosine of {kept:.2f}; without residual connections at {cut:.2f}, where 1 means that "
    "the vectors of all tokens point in the same direction."
)
RESIDUAL_BUG = (
    "A common bug: computing the attention, and then adding x to x instead of adding the result. A norm after the sum takes the "
    "factor of 2 away again, so the numbers look right, nothing fails, and no token ever learns about another. Without a norm, "
    "every vector becomes twice as long. The block shown above adds the result."
)

# A word through the layers
WORD_PATH_TEXT = (
    "The encoder is a stack of embeddings and blocks, with **a vector for every token at every depth**. Follow a few "
    "tokens: how far has a vector turned from where it started, and how much does each block turn it? Which word the model would "
    "predict from it, Summaries says."
)
WORD_PATH_FORMULAS = (
    r"h^{(0)} = \text{Embeddings}(\text{text})",
    r"h^{(\ell)} = \text{Block}_\ell\bigl(h^{(\ell-1)}\bigr)",
    r"\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\,\lVert b \rVert}",
)
FOLLOW = "Follow"
AT_DEPTH = "blocks: {step}"
TOKEN_NAME = "{token} ({position})"
COSINE_TO_START = "Cosine with its embedding"
COSINE_TO_LAST = "Cosine with the block before"
LENGTH = "Length of the vector"

EXPORT_TITLES = {
    "embeddings": "The embeddings of a sentence and their layer norm",
    "heads": "What the heads of block {layer} add",
    "feed": "The feed-forward layer of block {layer}",
    "norm": "A layer norm step by step",
    "depth": "Vectors in many blocks, with residual connections and without",
    "journey": "The vectors of some tokens in every layer",
}
