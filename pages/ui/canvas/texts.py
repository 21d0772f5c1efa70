"""What the drawings say by themselves; everything else comes from the page that draws."""

WALL_ALT = "Attention heads: one row per layer, one column per head"
DOCUMENT_GONE = "This drawing was kept for a while only: change something on the page, or load it again."

CLASS_LEGEND = "guesses of the class: a longer bar for more of them"
CLASS_GUESSED = "class: {said}"
UNLISTED_GUESS = "“{word}” {said}"

QUERY_KEY_AXES = ("query (looks)", "key (is looked at)")
"""The axes of a map of attention, down and across."""
READOUT = {
    "query": QUERY_KEY_AXES[0],
    "key": QUERY_KEY_AXES[1],
    "previous": "Focus the previous token",
    "next": "Focus the next token",
    "clear": "Clear the focused token",
    "strongest": "Strongest keys of the focused token",
    "chooseToken": "Choose a token to list what it looks at.",
    "looksMostAt": "{token} looks most at",
    "looksAtNothing": "{token} looks at nothing",
    "queryNumber": "query {number}",
    "keyNumber": "key {number}",
    "scaleOfWeights": "weight, coloured by its square root",
    "scaleOfChanges": "change of the weight, coloured by its square root",
    "figureOfWeights": "weight, coloured by its square root",
    "figureOfChanges": "change, coloured by its square root",
}
"""What stands around every map of attention."""
MAP = READOUT | {
    "heatmapKeys": "Heatmap of attention. Up and down arrows choose the query token, Escape clears.",
    "linesKeys": "Lines of attention. Up and down arrows choose the query token, Escape clears.",
    "heatmap": "Heatmap. {alt}",
    "lines": "Lines. {alt}",
    "zoom": "Zoom",
    "zoomOut": "Zoom out",
    "zoomIn": "Zoom in",
    "showAll": "Show the whole map",
    "fit": "Fit",
}
CHANGED_MAP = READOUT | {
    "titles": ["Before", "After", "Difference"],
    "changedLinks": "Links that changed most",
    "largestChanges": "The links that changed most",
    "changesOf": "What changed most for {token}",
    "nothingChanged": "Nothing changed here.",
}
"""What the maps of a changed run say. Lists hold what is said of before, after and their difference, in this order."""
WALL = {
    "several": "Choose several",
    "head": "Layer {layer}, head {head}",
    "notedHead": "{head}: {note}",
    "meanOfHeads": "Mean of {count} heads",
    "layers": "Layer ↓",
    "heads": "Head →",
}

QUESTION = {"guess": "your guess", "answer": "the model's answer", "value": "{name}: {value}"}

MATRICES = {
    "squareRoot": "colours by the square root",
    "allowed": "may look",
    "hidden": "may not look",
}
"""What the cells of a matrix say."""
MATRIX_ROW = {
    "how": "Click a cell, or choose one with Tab and the arrow keys: the sum behind it stands below the matrices.",
    "shape": "{rows} × {columns}",
    "shapeDrawn": "{rows} × {columns}, first {shown} drawn",
    "keys": "{title}. Arrow keys choose a cell, Escape clears.",
    "alt": "{title}, {rows} by {columns}. {alt}",
    "squareRoot": MATRICES["squareRoot"],
    "madeFrom": "made from this",
    "times": "times this",
    "range": "{first} to {last}",
    "clear": "Clear the chosen cell",
    "sum": "How the chosen cell came about",
    "none": "No cell is chosen.",
    "cell": "{matrix} · {row} · {column}",
    "place": "{kind} {name}",
    "fewTerms": "Largest {count} terms only",
    "allTerms": "All {count} terms",
    "moreTerms": "from {count} more",
    "more": "{count} more",
    "bias": "bias",
    "noBetterKey": "Of all keys, “{key}” matches the query of “{query}” best.",
    "betterKeys": "The key of “{key}” matches the query of “{query}” less well than {larger} of the other {others} keys.",
    "stays": "{before} stays {after}",
    "becomes": "{before} becomes {after}",
    "scalingOff": "Scaling is off.",
    "comesLater": "“{key}” comes later than “{query}”, so it is hidden: its weight will be 0.",
    "mayAttend": "“{query}” may attend to “{key}”.",
    "hiddenByMask": "hidden by the mask: {weight}",
    "nothingTaken": "A weight of 0: nothing of this token's value is taken.",
    "gives": "“{query}” gives {weight} of its attention to “{key}”.",
    "givesMost": "“{query}” gives {weight} of its attention to “{key}”, more than to any other token.",
    "shifted": "The largest score of the row, {score}, was subtracted from each first; the weights stay the same.",
    "difference": "{score} − {threshold} = {weight}",
    "belowZero": "{score} − {threshold} is below zero, so the weight is {weight}",
    "sparsemax": "Sparsemax takes the same number from every score of the row, so that what is left above zero adds up to 1.",
    "greatest": "{score} is the greatest score of the row: {weight}",
    "asGreat": "{score} is as great as the winner, which comes first: {weight}",
    "belowGreatest": "{score} is below the greatest of the row, {greatest}: {weight}",
    "hard": "Hard attention gives everything to one token.",
    "activation": "{function} of {number} = {result}",
    "meanAndVariance": "The row has the mean {mean} and the variance {variance}.",
}
"""What a row of matrices says, and the arithmetic behind the chosen cell."""
CORE = {"notANumber": "not a number", "space": "(space)", "empty": "(empty)"}
"""What every drawing may say; its scripts import it as core/texts.js."""
PAIR_OF_NAMES = "{row} → {column}"

INPUT = "input"

LAYERS_AND_HEADS = "Layer ↓ Head →"
BEFORE, AFTER = "before", "after"
DELTA = "Δ, percentage points"

HEAD_AXES = "one row per layer, one column per head; shares also by kind, in the order of kinds"
HEAD_SPREAD = "{head}: normalised entropy {number}"
HEAD_DISTANCE = "{head}: {number} tokens"
ONE_TOKEN, ALL_TOKENS = "each token attends to one other", "to all tokens evenly"
ITSELF = "each token attends to itself"
FARTHEST = "{distance:.1f} tokens away"
FARTHEST_AND_EVEN = "{distance:.1f} tokens away; even attention is {even:.1f} away"

FIRST_TOKEN, END = "the first token", "the end"
"""What stands for a model's special tokens where it has none."""
KIND_WORDS = {"previous": "previous", "next": "next", "same": "same", "punctuation": "signs", "broad": "broad", "mixed": "mixed"}
KIND_TARGETS = {
    "previous": "the token before",
    "next": "the token after",
    "same": "itself, its word, or the same word elsewhere",
    "punctuation": "punctuation and other signs",
    "broad": "many tokens at once",
    "mixed": "no clear pattern",
}
"""What a head of a kind attends to."""

GRAMMAR_WORDS = {
    "advcl": "clause",
    "aux": "auxiliary",
    "case": "preposition",
    "cc": "and, or",
    "cop": "to be",
    "det": "article",
    "nmod": "noun",
    "nsubj": "subject",
    "obj": "object",
    "obl": "adverbial",
    "xcomp": "infinitive",
}
"""A relation of Universal Dependencies in a cell of the table."""
GRAMMAR_LINKS = {
    ("advcl", "to head"): "from the verb of a clause such as “because …” to the main verb",
    ("advcl", "to dependent"): "from a main verb to the verb of its clause such as “because …”",
    ("aux", "to head"): "from an auxiliary to its verb",
    ("aux", "to dependent"): "from a verb to its auxiliary",
    ("case", "to head"): "from a preposition to its noun",
    ("case", "to dependent"): "from a noun to its preposition",
    ("cc", "to head"): "from “and” or “or” to what it adds",
    ("cc", "to dependent"): "from what is added to its “and” or “or”",
    ("cop", "to head"): "from a form of “be” to its predicate",
    ("cop", "to dependent"): "from a predicate to its form of “be”",
    ("det", "to head"): "from an article to its noun",
    ("det", "to dependent"): "from a noun to its article",
    ("nmod", "to head"): "from a noun in a phrase such as “of the river” to the noun that it describes",
    ("nmod", "to dependent"): "from a noun to the noun of a phrase such as “of the river” that describes it",
    ("nsubj", "to head"): "from a subject to its predicate",
    ("nsubj", "to dependent"): "from a predicate to its subject",
    ("obj", "to head"): "from an object to its verb",
    ("obj", "to dependent"): "from a verb to its object",
    ("obl", "to head"): "from a noun in a phrase such as “in the morning” to its verb",
    ("obl", "to dependent"): "from a verb to the noun of a phrase such as “in the morning”",
    ("xcomp", "to head"): "from an infinitive to the verb that needs it",
    ("xcomp", "to dependent"): "from a verb to its infinitive",
}
"""Where a head looks that follows a relation."""
GRAMMAR_TARGET = "a word that grammar binds it to, measured on a treebank"
GRAMMAR_RELATION = "{link} {accuracy} (95 % interval {low} to {high}, n = {occurrences:,}; best fixed distance: {baseline})"
OTHER_RELATION = {
    "to head": "from a word to the one that it depends on by the relation “{relation}”",
    "to dependent": "from a word to the one that depends on it by the relation “{relation}”",
}
"""A relation that has no entry in GRAMMAR_LINKS."""
GRAMMAR = "Grammar, measured on {treebank}:"
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
