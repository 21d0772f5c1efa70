"""What the drawings say by themselves; everything else comes from the page that draws."""

WALL_ALT = "Attention heads: one row per layer, one column per head"
HOW_TO_READ_CELLS = "Point at a cell, or tap it, to read its numbers."
DOCUMENT_GONE = "This drawing was kept for a while only: change something on the page, or load it again."

COMPARISON = {
    "panes": [
        "A. Up and down arrows choose the query word, Escape clears.",
        "B. Up and down arrows choose the query word, Escape clears.",
        "B − A. Up and down arrows choose the query word, Escape clears.",
    ],
    "largestDifferences": "Largest differences",
    "chooseWord": "The largest differences. Choose a word to list its own.",
    "differencesOf": "{word} attends differently to",
    "nothingDiffers": "Nothing differs here.",
    "noDifference": [
        "{word} is only in A, so there is nothing to compare.",
        "{word} is only in B, so there is nothing to compare.",
    ],
    "onlyIn": ["only in A", "only in B"],
    "wordOf": ["A: {word}", "B: {word}"],
    "weightIn": ["A {weight}", "B {weight}"],
    "asQuery": "as query",
    "asKey": "as key",
    "noPartner": "no partner",
    "hatched": "hatched: a word without a partner",
}
"""What the maps of a comparison say. Lists hold what is said of A, of B and of their difference, in this order."""

MATRICES = {
    "shown": "Matrix shown",
    "all": "All",
    "value": "{matrix} {number}",
    "squareRoot": "colours by the square root",
    "allowed": "may look",
    "hidden": "may not look",
    "mask": "The mask: Space allows or forbids, arrow keys move, Shift and an arrow paint on",
    "query": "Query token",
    "wholeRow": "Whole row of {name}",
    "wholeColumn": "Whole column of {name}",
    "maySee": "{query} may look at {key}",
}
"""What matrices side by side say, and the mask that is drawn on the first of them."""
PAIR_OF_NAMES, AXES_OF_MATRIX = "{row} → {column}", "{down} ↓  {across} →"

LINES = {"steps": "{title}. Left and right arrow keys read out one step after another."}
INPUT, BLOCK = "input", "block {step}"
LINES_ALT, LINE_ENDS = "{title}: {lines}.", "{name} from {first:.3g} to {last:.3g}"

LAYERS_AND_HEADS = "Layer ↓ Head →"
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
    "broad": "all tokens almost evenly",
    "mixed": "no clear pattern",
}
"""What a head of a kind attends to."""
