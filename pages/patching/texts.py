"""Every sentence of the page and of its exports; A is the sentence from which is taken, B the one into which is put."""

from pages.ui.stage.texts import LAYERS_UP_AND_HEADS

SENTENCE_A, SENTENCE_B = "Sentence A: take from", "Sentence B: put into"
EXCHANGE_HELP = "Exchange A and B: what A's parts bring about, or what they cost."
EXCHANGE_TERMS = (
    "Exchange A and B. To put the run with the right answer into the other is called denoising: what suffices for it? "
    "The other way round is noising: what does it need?"
)
ANSWERS = "Answers"
ANSWERS_HELP = "Two words that are compared. Each must be one token; an empty box takes the most likely word of its sentence."
ANSWER_A, ANSWER_B = "Answer of A", "Answer of B"
MOST_LIKELY = "the most likely word"
SAME_ANSWER = (
    "Both sentences are answered by “{word}”, so there is nothing to follow: change a word that matters in one of them, or "
    "write two words under “Answers”."
)
FIRST_BLANK = "Only the first blank of each sentence is followed. Put words into the others to see more clearly."
NO_ANSWER = "Without one there is no answer to follow."
WRITES_ON = "This model writes the next word and fills no blanks: end both sentences before the word that is asked for."
SAME_SENTENCES = "A and B are the same sentence: change a word in one of them."

PARTS = {"residual": "Vector", "attention": "Attention", "mlp": "Feed-forward", "head": "Heads", "path": "Paths"}
ASK_PART, ASK_PART_HELP = "What is put in", "What of A's run is put into B's"
SENDER = "From"
IN_WORDS = {
    "residual": "A's vector",
    "attention": "what attention adds in A",
    "mlp": "what the feed-forward network adds in A",
    "head": "A's result",
    "path": "what it makes of {sender} in A",
}

TITLE = "How far the answer moves from B (0) to A (1)"
AXES = {"tokens": "Layer ↑ Token of B →", "heads": LAYERS_UP_AND_HEADS}
CELL = {"tokens": "Layer {row}, “{column}”", "heads": "Layer {row}, head {column}"}
TOKEN = "Layer {layer}, “{token}”"
RISES, FALLS = "“{answer}” rises from {before} to {after}", "“{answer}” falls from {before} to {after}"
STAYS = "“{answer}” stays at {before}"
READ = "{moves} · {effect}"
SAID = "{place}, patched with {part}: {moves}, {effect} of the way to A."
NO_PARTNER = "this token has no partner in A, so nothing is put in"
NO_PATH = "no path leads here from {sender}"

BARS = "Prediction at “{token}”"
BARS_NEXT = "Prediction after “{token}”"
IN_RUNS = {"target": "{word} · B", "patched": "{word} · B patched", "source": "{word} · A"}

WAY = "Where A's answer lies: {steps}."
STEP, STEP_RANGE = "{token} after layer {first}", "{token} after layers {first} to {last}"
STEP_LAST = "{token} from layer {first} on"
QUOTED, THE_BLANK, NO_TOKEN = "“{token}”", "the blank", "no token alone"
STRONGEST = "Alone, these move the answer most: {cells}."
STRONGEST_CELL = "{place} ({effect})"
NONE_MOVES = "Alone, none of these moves the answer by a quarter of the way."

SHOWS = {
    "tokens": "**A number near 1 shows** that what is put in at this token alone brings A's answer: it holds what tells A from "
    "B. Read from layer 1 upwards, such cells trace how the answer reaches the token that predicts it. **It does not show** that "
    "a token is needed: others may hold the same. Negative numbers lead away from A's answer.",
    "heads": "**A number near 1 shows** a head that alone brings A's answer into B. **It does not show** that it is needed: "
    "others may do the same. Negative numbers lead away from A's answer.",
}
FORMULA = (
    r"\text{effect} = \frac{d_{\text{put in}} - d_B}{d_A - d_B}, \qquad d = \mathrm{logit}(\text{answer of A}) - "
    r"\mathrm{logit}(\text{answer of B})"
)
BOTH = "{one} → {other}"
EXPORT_TITLE = "{part} of A put into B: “{answer}” against “{other}”"
