"""The words that the pages use, each explained in a sentence or two, in groups with views that show most of them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Word:
    """A word of the field and what it means, in Markdown: text of ours, never a visitor's."""

    name: str
    meaning: str


@dataclass(frozen=True)
class View:
    """A page that shows words of a group, and the settings of its address."""

    page: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Words that explain one another."""

    title: str
    words: tuple[Word, ...]
    views: tuple[View, ...]


SENTENCE = "Mary lost her keys."
GROUPS = (
    Group(
        "What goes in",
        (
            Word("token", "A piece of text as the model reads it: a word, a part of one (**##ing**), or a mark such as a comma."),
            Word(
                "vocabulary",
                "All tokens that a model knows, numbered. A word that is not in it is spelled out in pieces, or "
                "becomes **[UNK]** where it has a character that no piece has.",
            ),
            Word(
                "special tokens",
                "Marks that the model adds: **[CLS]** before the text, **[SEP]** after each sentence, **[MASK]** "
                "for a blank, **[PAD]** to fill up a shorter text. Other models write them in their own way.",
            ),
            Word(
                "vector",
                "A list of numbers. A token enters as one, its *embedding*, and every layer changes it; how many numbers "
                "it has is the model's *hidden_size*.",
            ),
            Word(
                "position",
                "Where a token stands. Attention by itself does not know: the position is added to the vectors, or to "
                "the scores.",
            ),
            Word("segment", "Which of two sentences a token belongs to; a BERT adds a vector for it."),
        ),
        (View("heads_and_blocks", {"part": "embeddings", "text": SENTENCE}), View("positions")),
    ),
    Group(
        "Inside a head",
        (
            Word("attention", "Each token gathers from all tokens what matters to it, and the weights say how much from which."),
            Word(
                "query, key, value",
                "Three vectors that a head makes of each token: what it looks for, by what it is found, and "
                "what it hands over when it is found.",
            ),
            Word(
                "score",
                "How well a query matches a key: their numbers multiplied in pairs and added up, divided by the root of "
                "how many there are, so that many numbers do not make it extreme.",
            ),
            Word(
                "softmax",
                "Turns the scores of a row into positive shares that sum to 1. *Temperature* makes it sharper or "
                "flatter; *hard* attention takes the best alone, *sparse* attention a few.",
            ),
            Word(
                "weight",
                "The share of its attention that a token (the row, the *query*) gives to a token (the column, the *key*), "
                "itself included. An attention map shows these.",
            ),
            Word("context", "What a head brings back for a token: the values of all tokens, mixed by the weights."),
        ),
        (View("self_attention", {"text": SENTENCE}),),
    ),
    Group(
        "From heads to a model",
        (
            Word("head", "One attention of its own. Several run side by side in a layer and look for different things."),
            Word(
                "layer, block",
                "All heads of one step with a *feed-forward* network behind them. Each layer reads what the one before wrote.",
            ),
            Word("feed-forward", "Widens each token's vector, bends it (*GELU*), narrows it again; every token by itself."),
            Word(
                "residual connection",
                "What a part computes is added to what it read, so that nothing is lost on the way; also *skip connection*.",
            ),
            Word(
                "layer norm",
                "Shifts and stretches a vector to mean 0 and variance 1, then by numbers that were learned. Behind "
                "each part it is *post-norm*, as in BERT; before it, *pre-norm*.",
            ),
            Word(
                "encoder, decoder",
                "An encoder reads a whole text, every token seeing every other. A decoder writes one token "
                "after another and sees only what is already there; by *cross-attention* it looks at what an encoder read.",
            ),
        ),
        (View("heads_and_blocks", {"part": "heads", "text": SENTENCE}), View("encoder_decoder")),
    ),
    Group(
        "Who may look",
        (
            Word(
                "mask",
                "Says which tokens may be looked at: the scores of all others become −∞ before the softmax, and their weights 0.",
            ),
            Word(
                "padding mask",
                "Hides the **[PAD]** behind a shorter text, so that a batch gives what each text alone would give.",
            ),
            Word("causal mask", "Hides what comes later, as in a model that writes."),
        ),
        (View("masks"),),
    ),
    Group(
        "What comes out",
        (
            Word(
                "masked-word prediction",
                "What a BERT learned from: guessing words that were blanked. Its *head* for this scores the whole vocabulary.",
            ),
            Word("logit", "Such a score before it becomes a probability."),
            Word("probability", "The softmax of all logits at a blank: how likely the model finds each word there."),
        ),
        (View("fill_mask", {"text": "I drink a cup of [MASK] every morning."}),),
    ),
    Group(
        "Ways of looking",
        (
            Word(
                "entropy", "How widely a head spreads its attention: 0 if all of it rests on one token, most if all get the same."
            ),
            Word(
                "rollout, flow",
                "Two estimates of how much of a word reaches a place through all layers: rollout multiplies the "
                "weights layer by layer, flow asks how much fits through them as through pipes.",
            ),
            Word("logit lens", "The prediction head, asked after every layer instead of after the last alone."),
            Word(
                "gradient",
                "How much an answer would change if a number changed a little. From it one estimates what a prediction "
                "is owed to, which attention does not tell.",
            ),
            Word("intervention", "A change on purpose, such as a head switched off, to see what depends on it."),
        ),
        (View("summaries", {"text": SENTENCE}), View("attention", {"text": SENTENCE})),
    ),
)
