"""What the stages and their inputs say in Python: whole sentences or labels with named placeholders."""

from pages.ui.stage.browser_texts import CONTROLS, NOTES, ROUTES, TRAINING

# Attention map

HOW_TO_READ, NOT_AN_EXPLANATION = NOTES["howToRead"], NOTES["notAnExplanation"]
EXPLANATION_DEBATE = (
    "Attention is not an explanation: other weights can lead to the same prediction (Jain & Wallace 2019). "
    "Learned weights are not arbitrary, either (Wiegreffe & Pinter 2019)."
)
WEIGHTS_TABLE = "Weights as a table"
WEIGHTS_TABLE_CAPTION = "Each row is a query (a token that attends), each column a key (a token that is attended to)."

# View options

DRAWING_LABELS = CONTROLS["shows"]
STACK_LABELS = {
    "self": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
SEED, SEED_HELP = "Random seed", "Another seed draws other random numbers; the same seed draws the same ones again."
WITHOUT_SPECIAL = "Without special tokens"
WITHOUT_SPECIAL_HELP = (
    "Read the text without the special tokens that the model's tokenizer adds, such as [CLS] and [SEP] of BERT or <s> and </s> "
    "of RoBERTa. The model was never trained so."
)
READ_WITHOUT = "Read without {tokens}: the model was never trained so, and its heads and predictions may differ much."
NO_SEPARATOR = {
    True: "No separator stands between the two sentences: only their segment embeddings tell them apart.",
    False: "No separator stands between the two sentences: nothing tells the model where the second begins.",
}
ADDS_NONE = "The tokenizer of this model adds no special tokens: there are none to leave out."
NEAREST_HEAD = "{model} has {layers} layers of {heads} heads: the nearest is shown."
HEADS_MISSING = "This model has {layers} layers with {heads} heads each. Heads that do not exist were ignored."
TOKEN_MISSING = "This text has {tokens:,} tokens, so there is no token {position:,} to focus on."

# Tokens

TOKEN_TABLE = "Tokens, ids and segments"
SEGMENTS = ("first", "second")
REMARK_UNKNOWN, REMARK_BLANK, REMARK_SPECIAL = "not in the vocabulary", "blank", "special"
UNKNOWN = ("One word or symbol is", "{count:,} words or symbols are")
UNKNOWN_READ = " not in this model's vocabulary. The model reads an unknown token there, the same one for every such word."
ENGLISH_ONLY = (
    "This model reads English only. It takes a text in another language apart into pieces that it has seldom seen together, "
    "or does not know."
)
BLANK = "Blank"
WORD_BUTTONS = ROUTES["words"]
KEPT_SENTENCE = "{problem} The picture is still that of “{text}”."
TOO_MANY_WORDS = "This text has more than {maximum} words. To make a blank, type ___ in the box where a word should go."

# Pages in parts

SECOND_SENTENCE = "Second sentence (optional)"
EXCHANGE = "A ⇄ B"
NO_SECOND_SENTENCE = (
    "Write sentence B: sentence A with one word changed so that the answer changes, such as “key” instead of “keys”."
)
RUNS_DONE = "The model has run {done:,} of {total:,} times"
TAKES_LONG = (
    "With {tokens:,} tokens this runs {model} {runs:,} times, which takes {duration} while nobody else computes here. Up to "
    "{most:,} tokens are computed at once, and a smaller model is faster."
)
TAKES_TOO_LONG = (
    "With {tokens:,} tokens this would run {model} {runs:,} times and take {duration}: shorten the text, up to {most:,} tokens "
    "are computed at once, or choose a smaller model."
)
COMPUTE_LONG = "Compute it: {duration}"
ENCODER_ONLY = (
    "This model has an encoder and a decoder; only its encoder is shown here. "
    "Its decoder reads the second sentence, so that sentence changes nothing here."
)

# Training

UNTRAINED_MOMENT, CURVE_STEP = TRAINING["untrained"], TRAINING["step"]
TRAIN, STOP = "Train", "Stop"
OTHER_MODEL = "The model that you trained has other settings."
UNTRAINED_MODEL = "Untrained: its weights are random numbers, so what it answers means nothing yet. Press Train."
NO_MODEL = "What you type is answered here once the model is trained. Press Train."
STORED_MODEL = "Trained with the default settings, and stored with this app. Train it yourself, or move along the curve."
MOMENT = "After {batch:,} of {batches:,} batches"
MOMENT_ON_PROBE = "After {batch:,} of {batches:,} batches, on “{probe}”"
IN_THE_BACKGROUND = "{does} in the background; you can look at other pages meanwhile."
STARTING = "Starting …"


def progress_texts(doing: str, unit: str) -> dict[str, str]:
    """Return how far a run is, by its state. doing: as in "Training"; unit: of what it counts."""
    states = {"running": doing, "stopping": "Stopping", "stopped": "Stopped", "finished": "Done", "failed": "Failed"}
    return {state: f"{said}: {unit} {{done:,}} of {{total:,}}, {{seconds:.0f}} s" for state, said in states.items()}


TRAINING_PROGRESS = progress_texts("Training", "batch")
READING_PROGRESS = progress_texts("Reading", "sentence")
QUEUE_NEXT = "Waiting: you are next. It starts automatically."
QUEUE_ONE_AHEAD = "Waiting: 1 visitor is ahead of you. It starts automatically."
QUEUE_MANY_AHEAD = "Waiting: {ahead:,} visitors are ahead of you. It starts automatically."


# Changes: their names

CHANGE_PLACES = {
    "layer": "Layer {layer}",
    "head": "Layer {layer}, head {head}",
    "layer in a stack": "Layer {layer} ({stack})",
    "head in a stack": "Layer {layer}, head {head} ({stack})",
}
STACK_NAMES = {"self": "encoder", "decoder": "decoder", "cross": "cross-attention"}
CHANGE_IN_PLACE = {
    "off": "{place}: switched off",
    "off mlp": "{place}: feed-forward switched off",
    "uniform": "{place}: uniform",
    "hidden": "{place}: {key} hidden",
    "cut": "{place}: {query} ↛ {key}",
    "patch": "{place}: attention from the other text",
    "patch at": "{place}: attention at {query} from the other text",
    "patch mlp": "{place}: feed-forward from the other text",
    "patch mlp at": "{place}: feed-forward at {query} from the other text",
    "patch residual": "{place}: all vectors from the other text",
    "patch residual at": "{place}: vector of {query} from the other text",
    "mean": "{place}: mean attention output",
    "mean mlp": "{place}: mean feed-forward output",
    "temperature": "{place}: temperature {value:g}",
    "sparse": "{place}: sparse attention",
    "hard": "{place}: hard attention",
}
CHANGE_EVERYWHERE = {
    "hidden": "{key} hidden",
    "cut": "{query} ↛ {key}",
    "temperature": "Temperature {value:g}",
    "sparse": "Sparse attention",
    "hard": "Hard attention",
    "causal": "Causal mask",
    "no_padding_mask": "{value:.0f} [PAD] not masked",
    "no_positions": "No positions",
}
CHANGED_TOKEN, CHANGED_ONLY_TOKEN = "“{token}” ({position})", "“{token}”"
CHANGED_POSITION = "token {position}"

# Changes: chips

CHANGES_AT_MAXIMUM = "At most {maximum} changes at a time: undo one to make another."
TOKEN_CHANGES_UNDONE = "The tokens of the text are others now, so hidden tokens and cut links were undone."

# Changes: before and after

NO_HEAD_MOVED = "No other head's attention moved by 0.0005 or more (mean over its queries)."
NOTHING_AFTER_LAST_LAYER = (
    "Layer {layer} is the last layer: no head comes after it, so no other attention can move. "
    "The change affects the answer: the words that the model predicts at a blank."
)
EMPTY_MAP = "A head that is switched off attends to nothing, so its map is empty. "
SEE_ON_PAGE = "See it on {page}"

NEEDS_OWN_BERT = (
    "{model} is no BERT, or differs from it in a part. This page reads the weights of a BERT that this project's own code runs: "
    "choose one."
)
SHOWS_BUILT_IN = "This page shows {built_in} and no other model."
SHOWS_BUILT_IN_ONLY = "This page shows {built_in} and no other model: not {model}, which the link names."


# Drawings

ARCHITECTURE = "The architecture: choose a part or a block"
BLOCK = "Block {number}"
NORM, NORM_AFTER, NORM_BEFORE = "Norm", "Layer norm after {part}", "Layer norm before {part}"
RESIDUAL = "Residual connection past {part}"

CLASS_GUESSED = "class: {said}"
UNLISTED_GUESS = "“{word}” {said}"

INPUT = "input"

LAYERS_AND_HEADS, LAYERS_UP_AND_HEADS = "Layer ↓ Head →", "Layer ↑ Head →"
HEAD_DOES = {
    "": "{head} looks at {aim}: {share} of its attention.",
    "broad": "{head} spreads its attention over many tokens.",
    "mixed": "{head} shows no clear pattern.",
}
"""Of a head, by its kind: "" of all others."""
HEAD_CONFIDENCE = {
    "": "Confidence {confidence:.2f}: 0 is what even attention gives, 1 all of it.",
    "broad": "Confidence {confidence:.2f}: 0 is one token, 1 even attention.",
    "mixed": "Confidence of the best {confidence:.2f} of 1.",
}
"""By kind, as `HEAD_DOES`."""
HEAD_ALONE = "It is of this kind in {agreement} of the {count:,} sentences taken alone."
HEAD_NUMBERS = (
    "Second: {second} ({second_score:.2f}). Over {own_tokens}: spread {spread:.2f} (normalised entropy; 0: one token, 1: even "
    "attention), mean distance {distance:.1f} tokens."
)
TEXT_TOKENS, SENTENCES_TOKENS = "the text's own tokens", "the sentences' own tokens"
BEFORE, AFTER = "before", "after"
DELTA = "Δ, percentage points"

HEAD_SPREAD = "{head}: normalised entropy {number}"
HEAD_DISTANCE = "{head}: {number} tokens"
ONE_TOKEN, ALL_TOKENS = "each token attends to one other", "to all tokens evenly"
ITSELF = "each token attends to itself"
FARTHEST = "{distance:.1f} tokens away"
FARTHEST_AND_EVEN = "{distance:.1f} tokens away; even attention is {even:.1f} away"

FIRST_TOKEN, END = "the first token", "the end"
"""What stands for a model's special tokens where it has none."""

RELATIONS = {
    "advcl": (
        "clause",
        "from the verb of a clause such as “because …” to the main verb",
        "from a main verb to the verb of its clause such as “because …”",
    ),
    "amod": ("adjective", "from an adjective to its noun", "from a noun to its adjective"),
    "aux": ("auxiliary", "from an auxiliary to its verb", "from a verb to its auxiliary"),
    "case": ("preposition", "from a preposition to its noun", "from a noun to its preposition"),
    "cc": ("and, or", "from “and” or “or” to what it adds", "from what is added to its “and” or “or”"),
    "cop": ("to be", "from a form of “be” to its predicate", "from a predicate to its form of “be”"),
    "det": ("article", "from an article to its noun", "from a noun to its article"),
    "nmod": (
        "noun",
        "from a noun in a phrase such as “of the river” to the noun that it describes",
        "from a noun to the noun of a phrase such as “of the river” that describes it",
    ),
    "nsubj": ("subject", "from a subject to its predicate", "from a predicate to its subject"),
    "obj": ("object", "from an object to its verb", "from a verb to its object"),
    "obl": (
        "adverbial",
        "from a noun in a phrase such as “in the morning” to its verb",
        "from a verb to the noun of a phrase such as “in the morning”",
    ),
    "xcomp": ("infinitive", "from an infinitive to the verb that needs it", "from a verb to its infinitive"),
}
"""What relations of Universal Dependencies are called in a cell of the table, and where a head looks that follows one."""
GRAMMAR_WORDS = {name: word for name, (word, *_) in RELATIONS.items()}
GRAMMAR_LINKS = {(name, "to head"): link for name, (_, link, _) in RELATIONS.items()}
GRAMMAR_LINKS |= {(name, "to dependent"): link for name, (_, _, link) in RELATIONS.items()}
GRAMMAR_TARGET = "a word that grammar binds it to (†: in how many words of the English Web Treebank, not of the text here)"
ON_TREEBANK = "{share}†"
"""A share in a cell that is not of the text at hand, as the legend says."""
GRAMMAR_RELATION = (
    "{link} {accuracy} (95 % interval {low} to {high}, n = {occurrences:,}; always looking {distance}, the best fixed distance: "
    "{baseline})"
)
GRAMMAR_FIRST = (
    "{word}: in {accuracy} of {occurrences:,} words of a treebank, {head} looks most {link}, {gain} percentage points more often "
    "than always looking {distance} would."
)
"""What is said first of a head that follows a relation."""
WORDS_BACK, WORDS_AHEAD = ("one word back", "{count} words back"), ("one word ahead", "{count} words ahead")
"""A fixed distance, from the word that attends."""
OTHER_RELATION = {
    "to head": "from a word to the one that it depends on by the relation “{relation}”",
    "to dependent": "from a word to the one that depends on it by the relation “{relation}”",
}
"""A relation that has no entry in GRAMMAR_LINKS."""
GRAMMAR = "Grammar, counted on a treebank ({treebank}), not in the sentences here:"
GRAMMAR_RELATIONS, GRAMMAR_AND_MORE = "{relations}.", "{relations}, and {more} more."
GRAMMAR_LEAVES_OUT = (
    "A share counts how often the head's largest weight is on that word, among the other words of the sentence: special tokens "
    "such as [CLS] and [SEP], and the word itself, are left out."
)
NO_GRAMMAR = (
    "This head follows no grammatical relation (on {treebank}, none beats simple distance by {points} percentage points)."
)
GRAMMAR_NOT_MEASURED = "Grammar: not measured for this model."
NO_RELATION = "–"
GRAMMAR_CELL = "{head}. {grammar}"
KIND_COLUMN = "to {kind}"
GRAMMAR_COLUMNS = (
    "relation of grammar",
    "relation found",
    "baseline of the relation",
    "95 % interval of the relation",
    "occurrences of the relation",
)
INTERVAL = "{low:.3f} to {high:.3f}"
NOT_MEASURED = "not measured"
GRAMMAR_COLUMNS_NOTE = (
    "The relation of grammar is the one that the head finds most often above its baseline, the best fixed distance; both shares "
    "were measured on {treebank}, for the built-in model and for models of this server with a grammar.json. "
    f"{GRAMMAR_LEAVES_OUT}"
)

# Captions and files

APP = "Attention explorer"
MODEL_REVISION = "Model {model}, revision {revision}"
NONE_ADDED = "none added"
EARLIER_STAYS = "{problem} What is shown is still {file}."

UPLOAD_SENTENCES = (
    "Upload a file first: plain text with one sentence on each line, a CSV with a column of sentences, or annotated sentences "
    "(CoNLL-U)."
)
SENTENCE_FILE = "A text file with one sentence on each line, a CSV, or CoNLL-U"
SENTENCE_COLUMN = "Column with the sentences"
SENTENCES_READ = ("{count:,} sentence: {source}.", "{count:,} sentences: {source}.")
SENTENCES_OF_COLUMN = ("{count:,} sentence: {source}, column {column!r}.", "{count:,} sentences: {source}, column {column!r}.")
LINES_LEFT_OUT = ("{count:,} line was left out: {reasons}", "{count:,} lines were left out: {reasons}")
