"""What the page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

PARTS = {"train": "Training", "inside": "Masks and shapes"}
SHARED = (
    "This link holds the settings and your numbers, but not the trained model. Whoever opens it can train a model with the same "
    "settings, or load yours from its file."
)
OWN_MODEL = (
    "No pretrained model is used on this page: an encoder-decoder of your size begins with random weights and reads numbers. "
    "Attention shows pretrained encoder-decoders, T5 and BART."
)
MODEL = "Encoder-decoder"
ENGINE = "Encoder-decoder, {layers} + {layers} layers"

# What an encoder-decoder is

TASK = """
The **encoder** reads the whole source; each of its tokens can attend to every other. The **decoder** writes the target one
token at a time: each token attends to the tokens written so far, then to the output of the encoder, which is called
**cross-attention**. With a task that needs no data, such as copying numbers, you can watch the model learn where to look.
"""
FAMILIES = """
**Three families.** An *encoder* alone reads a whole text at once: BERT, RoBERTa, ELECTRA; for labels, blanks and vectors of
sentences. A *decoder* alone writes on from what stands there, and no token can attend to a later one: GPT-2, Llama, Qwen. *Both*,
joined by cross-attention, turn one sequence into another: the transformer of 2017, T5, BART, for translation and summaries.

**Why not a recurrent network?** It reads one token after the other, so it cannot compute a sequence at once, and what it knows
of a token passes through every later step. In a transformer each token looks at every other in one step.
"""
"""Vaswani et al. 2017, sections 1 and 4."""
WARM_UP = (
    "**Pre-norm or post-norm?** Vaswani et al. 2017 put the layer norm after each sublayer (post-norm). Then the gradients near "
    "the output are large at first, and the learning rate must begin small and rise, which is called **warm-up**. With the norm "
    "before each sublayer (pre-norm, the default here) it need not (Xiong et al. 2020). Both are trained here with a warm-up; "
    "“Sizes and training” has the switch, and the drawing above follows it."
)
FAMILIES_TITLE = "Encoder, decoder, or both"
TASK_LETTERS = (
    "In the equations, *X* is the source and *Y* the target: *S* is the source attending to itself, *T* the target attending to "
    "itself, and *C* the target attending to *E*, the output of the whole encoder."
)
TASK_EQUATION = r"""
\begin{aligned}
S &= \text{attend}(X,\, X,\, X)\;\\
E &= \text{Encoder}(X)\;\\
T &= \text{attend}(Y,\, Y,\, Y \mid \text{causal})\;\\
C &= \text{attend}(T,\, E,\, E)\;
\end{aligned}\;
"""

# Settings: label and help by name in the address

SIZES = {
    "vocab": ("Vocabulary size", "Numbers run from 2 to one less than this; 0 is padding, 1 the start token."),
    "length": ("Sequence length", "Tokens per sequence, including the start token."),
    "batch": ("Batch size", "Sequences per batch."),
    "batches": ("Batches", None),
    "width": ("Hidden size", "Length of the vector of each token. Must be divisible by the number of heads."),
    "layers": ("Layers", "Layers of the encoder; the decoder has as many."),
    "heads": ("Heads", None),
    "feed": ("Feed-forward size", "Width of the hidden layer in each feed-forward network."),
    "seed": ("Random seed", "On a processor (CPU), the same seed and settings give the same run."),
}
LEARNING_RATE_HELP = "Peak value: it rises over the first twentieth of the batches and falls to 0 over the second half."
POST_NORM = "Post-norm, as in Vaswani et al. 2017"
POST_NORM_HELP = "Layer norm after each sublayer instead of before it."
FULL_SIZE = "Full size: hidden size 512, 6 + 6 layers, 8 heads"
SETTING = "Task"
TASK_NOTES = {
    "copy": ("Notice: each step looks at the number that it writes. Move along the curve to see when."),
    "reverse": "Notice: each step of the decoder looks one place further back in the source.",
    "sort": (
        "Sorting is harder to learn than copying or reversing. With the sizes of those tasks its loss stays above 0.1; with a "
        "vocabulary size of {vocab} and {batches} batches, which are set when you choose Sort, it falls below 0.01."
    ),
}
"""What is said of a task before it is trained."""

# The training

LOSS, ACCURACY, ALIGNMENT = "loss", "accuracy", "attention on the answer (best head)"
CURVES = "Loss", "Share that is right"

# The visitor's own sequence

NUMBERS, RANDOM_NUMBERS = "Your numbers", "Random numbers"
DISCARDED = "Reloading the page discards it. Trained again from the same link on a processor (CPU), it becomes the same model."
STILL_TRAINING = "The numbers that you have typed are answered as soon as the training stops."
SAID = "{right} of {total} numbers are right."
INPUT, OUTPUT, CORRECT = "input", "output", "correct"
OTHER_LENGTH = "The model was trained only on sequences of {length} numbers; other lengths are new to it."
ERRORS = "Wrong numbers (✗): {wrong} of {total}."
STOPPED_EARLY = "The training was stopped after {done:,} of {total:,} batches."
SHORT_TRAINING = "The training was short ({batches:,} batches); a longer one usually leaves fewer errors."
TEST_ERRORS = "In a test on new sequences, {wrong:,} of {total:,} numbers were wrong."
TEST_PERFECT = "In a test on new sequences, all {total:,} numbers were correct, so such an error is rare."

# Attention

START = "start"
STEP = "{read} → {written}"
STEPS_NOTE = (
    "**start** is the token before every sequence, so that the first number also follows a token. A row such as **8 → 3** is one "
    "step of the decoder: it reads 8 and writes 3."
)
KINDS = {"cross": "Cross-attention", "self": "Encoder self-attention", "decoder": "Decoder self-attention"}
BOXES = {"self": "Self-attention", "decoder": "Masked self-attention", "cross": "Cross-attention"}
FEED_FORWARD, EMBEDDINGS, OUTPUT_HEAD = "Feed-forward", "Embeddings", "Head"

# Masks and shapes

MASKS = """
An encoder-decoder has three kinds of attention and three masks. Padding in the source is hidden **twice**: from the encoder, and
from the cross-attention of the decoder. The mask of the target also hides the future; otherwise the decoder could read the token
that it has to predict.
"""
MASK_EQUATIONS = (r"M_S = M_C = P_{\text{source}}\;", r"M_T = P_{\text{target}} \wedge \text{causal}\;")
INSIDE_SIZES_TITLE = "Sizes"
MASK_NOTES = {
    "self": "It hides the padding of the source: {allowed} of {pairs} pairs are allowed.",
    "decoder": "It hides the future and the padding: {allowed} of {pairs} pairs are allowed.",
    "cross": "It hides the padding of the source: {allowed} of {pairs} pairs are allowed.",
}
MASK_CELL = "{row} → {column}"
MAY_ATTEND = {True: "may attend", False: "may not attend"}
PARAMETERS = (
    "All tensors of one forward pass, in the order in which they are computed. The model has **{parameters:,}** parameters."
)
SHAPE_COLUMNS = ("Where", "Tensor", "Shape", "Axes", "How many")
ONE, ONE_PER_LAYER = "one", "one in each of {layers} layers"

EXPORT_TRAINING = "Training of an encoder-decoder: {task}, {batches} batches"
EXPORT_ANSWER = "Attention of an encoder-decoder after {batches} batches: {kind}"
EXPORT_INSIDE = "The three masks of an encoder-decoder"
