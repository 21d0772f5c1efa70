"""What the page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

PARTS = {
    "compare": "Compare with Hugging Face",
    "labels": "Classification heads",
    "family": "BERT's successors",
}

PART = "Part"
STATES = {"after": "Ours", "before": "Hugging Face", "difference": "Difference"}
APART = "In this head, no weight of ours differs from Hugging Face's{apart}."
EMBEDDINGS_BOX, ATTENTION_BOX, FEED_BOX = "Embeddings", "Attention", "Feed-forward"
HEAD_BOX, HEAD_BOX_SAID = "Prediction", "Prediction head: what stands on top"
BY_MORE_THAN = " by more than {apart}"
BLOCK_APART = "differs by {apart}"

BUILT_IN_ONLY = (
    "Computed with the built-in model: Hugging Face's copy of its weights stands in memory beside ours, twice {ours:.0f} MB. "
    "BERT base would take twice {base} MB. Attention, Summaries and Self-attention run BERT base in the same code as here."
)

# Compare with Hugging Face

COMPARE = (
    "BERT consists of **embeddings, layers and a prediction head**; a layer, also called a block, is attention followed by a "
    "feed-forward network. This app has its own code for them, which runs wherever it uses the built-in model or another BERT. "
    "To verify that nothing is missing, the same checkpoint is loaded into the BERT of Hugging Face transformers, both read the "
    "sentence above, and every number of every layer is compared."
)
COMPARE_EQUATION = (
    r"\max_{\text{token},\,i}\;\bigl|\,h^{\text{ours}}_{\text{token},i} - h^{\text{library}}_{\text{token},i}\,\bigr|\;"
)
LOADING_LIBRARY = "Importing Hugging Face transformers, which takes some seconds the first time. The comparison appears here …"
LIBRARY_FAILED = "Hugging Face's BERT could not be loaded on this server; its log says why."
MAX_HIDDEN = "Hidden states, largest difference"
MAX_WEIGHTS = "Attention weights, largest difference"
MAX_LOGITS = "Logits, largest difference"
TENSORS = "Configuration and every tensor of the model"
CONFIGURATION = "**The configuration of {model}**"
FIELD, VALUE = "field", "value"
TENSORS_COUNTED = "**{count} tensors, {total:,} numbers.** A tensor that is used twice stands once."
TENSOR, SHAPE, SIZE = "tensor", "shape", "numbers"

# Classification heads

LABELS = (
    "The encoder gives a vector for every token. A **classification head** on top turns them into labels: one for the "
    "sentence from the vector of [CLS], one for every token, or one for the sentence from the greatest value of each "
    "dimension over all tokens (max-pooling). The first is shown with a head that was trained on film reviews; the others have "
    "random weights, to show what they read."
)
LABELS_EQUATIONS = (
    r"\text{logits} = W \tanh(P\,h_{\text{[CLS]}} + p) + b",
    r"\text{logits} = W h_{\text{[CLS]}} + b",
    r"\text{logits}_t = W h_t + b",
    r"\text{logits} = W \max_t h_t + b\;",
)
LABEL_KIND = "Label for"
LABEL_KINDS = {
    "trained": "Trained: the sentence, from [CLS]",
    "first": "Random: the sentence, from [CLS]",
    "every": "Random: every token",
    "max": "Random: the sentence, max-pooled",
}
LABEL_COUNT = "Number of labels"
TRAINED_HEAD = (
    "This head was trained, with the BERT below it, on film reviews: it says how much speaks for a negative and for a positive "
    "opinion. It reads [CLS] through one more layer, the pooler."
)
UNTRAINED_HEAD = (
    "This classification head is untrained: its weights are random, so its labels mean nothing. What matters here is what it "
    "reads."
)
FIRST_TOKEN_READ = "There is no [CLS] here: the classification head reads the vector of the first token, “{token}”, in its place."
LOGITS = "Hidden states {hidden} → logits {logits} → softmax, which sums to 1."
SENTENCE_ROW, TOKENS = "the sentence", "Tokens"
READ, READ_SIGN, VECTORS, LOGITS_TITLE, SHARES = "What it reads", "read", "Last hidden states", "Logits", "Probabilities"
VECTORS_ALT = "The vector of each token after the last block."
READ_ALT = {
    "trained": "The vector of [CLS] after the pooler, whose numbers lie between −1 and 1.",
    "first": "The vector of the first token alone.",
    "every": "The vector of every token.",
    "max": "Of each dimension, the greatest value among all tokens.",
}
LOGITS_ALT, SHARES_ALT = "One number for each label.", "Each row sums to 1."
MAXIMA = "Each of the {total} dimensions takes its maximum from one token. “{token}” provides the most: {count}."
MAXIMA_CHART = "Share of the dimensions whose maximum each token provides"
MAXIMA_COUNT = "dimensions: {count}"

# BERT's successors

FAMILY = (
    "RoBERTa, ALBERT, ELECTRA and DistilBERT keep the layers of BERT and change what is **around** them: the data, the training "
    "task, what is shared, and the depth. The attention that you see on these pages is the same in all of them."
)
FAMILY_EQUATION = r"\text{layer} = 4\,(d^2 + d) + 2\,d\,m + m + d + 4\,d\;"
FAMILY_EQUATION_NOTE = "The parameters of one layer, with hidden size d and feed-forward size m."
FAMILY_LABEL = "Family"
FAMILY_TITLE = "**{title}** ({paper})"
SIZE_COLUMNS = (
    "layers",
    "heads",
    "hidden size",
    "vocabulary size",
    "parameters in embeddings",
    "parameters in layers",
    "parameters",
)
SIZES = "Sizes"
PARAMETERS = "{parameters:,} parameters, computed from the published configuration, without heads and pooler."
PARAMETERS_OF_BERT = (
    "{parameters:,} parameters, {share} of BERT base, computed from the published configuration, without heads and pooler."
)
NOT_OFFERED = (
    "{title} (1.3 GB) is not among the models here. For a sentence of {tokens} tokens, its last hidden state would have the "
    "shape (1, {tokens}, {hidden:,}): {hidden:,} numbers for every token."
)
SEE_ATTENTION = "See the attention of {title} on this sentence"

LABEL_COLUMN = "label {number}"
EXPORT_TITLES = {
    "compare": "Our BERT compared with Hugging Face's: layer {layer}, head {head}",
    "labels": "An untrained classification head with {labels} labels",
}
EXPORT_TRAINED = "The label head that was trained on film reviews"
TASKS = (
    "BERT was trained on **two tasks** at once. *Masked words*: of 15 % of the words, most are hidden, and BERT predicts them "
    "from both sides (try it in Fill the blank). *Next sentence*: of two sentences, BERT tells from the vector of [CLS] whether "
    "the second one followed the first. The built-in model was trained on masked words only."
)
