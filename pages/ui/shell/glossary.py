"""The glossary: the terms that the pages use, each explained in a sentence or two, in groups with views that show them.

A browser fetches the terms once and explains them where a page uses them first (assets/canvas/terms).
"""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pages.ui.shell import texts


@dataclass(frozen=True)
class Term:
    """A term of the field and its meaning, in Markdown: text of ours, never a visitor's.

    everyday: names of it that are words of everyday language, too: not underlined, since a page may mean those.
    """

    name: str
    meaning: str
    everyday: tuple[str, ...] = ()

    @property
    def marked_names(self) -> list[str]:
        """The names that are underlined where a page uses them first."""
        return [name for name in self.name.split(", ") if name not in self.everyday]


@dataclass(frozen=True)
class Group:
    """Terms that explain one another, and views that show them: pages, each with the settings of its address."""

    title: str
    terms: tuple[Term, ...]
    views: dict[str, dict[str, str]]


SENTENCE = "Mary lost her keys."
GROUPS = (
    Group(
        "Input",
        (
            Term("token", "A piece of text as the model reads it: a word, part of a word (**##ing**), or a punctuation mark."),
            Term(
                "vocabulary",
                "All tokens that a model knows, numbered. A word outside the vocabulary is split into smaller tokens, or becomes "
                "**[UNK]** if that is impossible.",
            ),
            Term(
                "special tokens",
                "Tokens that are not words: **[CLS]** before the text, **[SEP]** after it and after a second text read with it, "
                "**[MASK]** for a blank, **[PAD]** to fill up shorter texts. Other models spell them differently, or add none.",
            ),
            Term("vector", "A list of numbers. Inside the model every token is one, and each layer computes new ones from them."),
            Term(
                "embedding, hidden state",
                "The vector of a token: its *embedding* when it enters the model, its *hidden state* after each layer. Its "
                "length is the *hidden size* of the model.",
            ),
            Term(
                "positional encoding",
                "Tells the model where a token is, because attention by itself ignores word order. It is added to the embeddings "
                "or to the attention scores, or it turns queries and keys by an angle.",
            ),
            Term("segment", "Which of two sentences a token belongs to. BERT adds a learned vector for each segment."),
        ),
        {"heads_and_blocks": {"part": "embeddings", "text": SENTENCE}, "positions": {}},
    ),
    Group(
        "Inside a head",
        (
            Term(
                "attention, self-attention",
                "How a token takes in others: it computes a weighted average over the tokens that it may look at; the weights "
                "say how much it takes from each. In *self-attention*, all tokens belong to the same text.",
            ),
            Term(
                "query, key, value",
                "Three vectors that a head computes for each token. The query says what the token looks for, the key what it can "
                "be found by, and the value what it passes on.",
                everyday=("key", "value"),
            ),
            Term(
                "attention score",
                "How well a query matches a key: their dot product, divided by the square root of the number of their dimensions "
                "so that many dimensions do not give extreme scores. T5 does not divide.",
            ),
            Term(
                "softmax",
                "Turns the scores of a row into positive weights that sum to 1. A low *temperature* makes them sharper, a high "
                "one flatter.",
            ),
            Term(
                "attention weight",
                "How much of its attention a token (the *query*, a row of the map) gives to another or to itself (the *key*, a "
                "column). An attention map shows these weights.",
            ),
            Term(
                "context vector",
                "The output of a head for a token: the average of all values, weighted by its attention weights.",
            ),
            Term(
                "attention sink",
                "A token that gets much attention although little is taken from it, since its value vectors are short: a head "
                "that finds nothing to do rests on it. In BERT, **[CLS]** and **[SEP]**; in models that write, the first token.",
            ),
        ),
        {"self_attention": {"text": SENTENCE}, "summaries": {"part": "sinks", "text": SENTENCE}},
    ),
    Group(
        "From heads to a model",
        (
            Term(
                "head", "One attention mechanism with its own weights. A layer runs several in parallel (*multi-head attention*)."
            ),
            Term(
                "layer, block",
                "Multi-head attention followed by a feed-forward network, with cross-attention between them in the decoder of an "
                "encoder-decoder. Each layer takes the output of the one before it.",
            ),
            Term(
                "feed-forward network",
                "In BERT, two linear layers with an *activation function*, GELU, between them, applied to every token "
                "separately.",
            ),
            Term(
                "residual connection, skip connection",
                "Adds the input of a sublayer to its output, so that information and gradients can pass by the sublayer.",
            ),
            Term(
                "layer norm",
                "Scales a vector to mean 0 and variance 1, then applies a learned scale and shift. After the residual connection "
                "it is *post-norm*, as in BERT; before the sublayer, *pre-norm*.",
            ),
            Term(
                "encoder, decoder",
                "In an encoder, every token can attend to every other. A decoder generates one token after another, and each "
                "attends to itself and to earlier ones only.",
            ),
            Term(
                "BERT",
                "A language model (Devlin et al. 2018) that learned to fill in blanks. As an *encoder*, it reads in both "
                "directions. **Tiny BERT**, which is built into this app, has the same parts and is much smaller.",
            ),
            Term(
                "causal model, next word",
                "A language model that looks back only, as GPT does. It is trained to predict the *next word* from those before, "
                "and writes by adding that word and predicting again. A *causal mask* hides what comes later.",
                everyday=("next word",),
            ),
            Term("cross-attention", "Attention from one sequence to another: a decoder attends to the output of an encoder."),
        ),
        {"heads_and_blocks": {"part": "heads", "text": SENTENCE}, "encoder_decoder": {}, "next_word": {}},
    ),
    Group(
        "Masks",
        (
            Term(
                "attention mask",
                "Says which tokens a query may attend to. The scores of all others are set to −∞ before the softmax, which makes "
                "their weights 0. It is not **[MASK]**, the blank, which is a token like any other.",
            ),
            Term(
                "padding mask",
                "Hides the **[PAD]** tokens, so that a text gives the same result alone and in a batch, but for rounding.",
            ),
            Term("causal mask", "Hides later tokens, as in a model that generates text."),
        ),
        {"masks": {}},
    ),
    Group(
        "Output",
        (
            Term(
                "masked language modelling",
                "The training task of BERT, beside next-sentence prediction: to predict tokens, most of which were replaced by "
                "**[MASK]**.",
            ),
            Term(
                "next-word prediction, causal language modelling",
                "The training task of models that write: to predict each token from those before it. What they write is drawn "
                "from these predictions, one token at a time. **Tiny writer**, which is built in, learned nothing else.",
            ),
            Term(
                "key-value cache",
                "Keys and values of the tokens so far, kept while a model writes: under a causal mask, no later token changes "
                "them.",
            ),
            Term(
                "prediction head, masked-word head, classification head",
                "What turns vectors of the last layer into scores: a *prediction head* scores every token of the vocabulary, a "
                "*classification head* every label. It is no attention head.",
            ),
            Term(
                "fine-tuning",
                "Training a trained model a little further on another task, such as labelling reviews: with a new head, on far "
                "fewer texts.",
            ),
            Term("logit", "Such a score before the softmax turns it into a probability."),
            Term("probability", "The softmax of all logits at a blank: how likely the model finds each token there."),
        ),
        {"fill_mask": {"text": "I drink a cup of [MASK] every morning."}, "next_word": {}},
    ),
    Group(
        "Analysis",
        (
            Term(
                "entropy",
                "Measures how spread out the attention of a query is: 0 if all of it is on one token, highest if it is uniform.",
            ),
            Term(
                "attention rollout, attention flow",
                "Two estimates of how much of an input token reaches a position through all layers. Rollout multiplies the "
                "attention matrices; flow computes the maximum flow through them.",
            ),
            Term("logit lens", "Applies the prediction head after every layer, not only after the last."),
            Term(
                "gradient",
                "How much an output changes when an input changes slightly. *Attribution* methods use it to estimate which "
                "inputs a prediction depends on.",
            ),
            Term(
                "treebank",
                "Sentences in which people have marked the grammar: for every word, which other word it depends on, and how.",
            ),
            Term("intervention", "A deliberate change, such as switching a head off, to see what depends on it."),
            Term(
                "activation patching",
                "Puts a part of one run, such as a token's vector after a layer, into the run of another sentence. If the "
                "prediction follows, that part holds what tells the two sentences apart.",
            ),
        ),
        {"summaries": {"text": SENTENCE}, "attention": {"text": SENTENCE}, "patching": {}},
    ),
)


async def answer_glossary(_request: Request) -> JSONResponse:
    """Serve every term with its meaning, and what stands around it."""
    terms = [{"names": term.marked_names, "meaning": term.meaning} for group in GROUPS for term in group.terms]
    words = {"explain": texts.EXPLAIN_TERM, "all": texts.ALL_TERMS, "close": texts.CLOSE_TERM}
    return JSONResponse({"terms": terms, "texts": words}, headers={"Cache-Control": "max-age=600"})


GLOSSARY_ROUTE = Route("/glossary.json", answer_glossary)
