"""All that a stage says by itself, in one table: the browser is handed it once, below the hash of the scripts."""

import re
from collections.abc import Mapping
from functools import cache

from pages.ui.shell import texts as shell_texts
from pages.ui.stage import texts
from tx_core.analysis import comparison
from tx_core.settings import host_settings
from tx_core.transformer.interventions import NEEDS_POSITIONS

MORE = "More controls"
COMPUTING = "Computing …"
AHEAD = "ahead: forbidden (causal mask)"
LOADING = "Loading this layer …"
NOT_LOADED = "This layer could not be loaded: the server does not answer. Choose another head, or load the page again."
ABOUT = "What this head does"
CLASS_LEGEND = "guesses of the class: a longer bar for more of them"

MAP = {
    "heatmapKeys": "Heatmap of attention. Up and down arrows choose the query token, Escape clears.",
    "linesKeys": "Lines of attention. Up and down arrows choose the query token, Escape clears.",
    "heatmap": "Heatmap. {alt}",
    "lines": "Lines. {alt}",
    "query": "query (looks)",
    "key": "key (is looked at)",
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
}
"""What stands around every map of attention."""
WALL = {
    "alt": "Attention heads: one row per layer, one column per head",
    "several": "Choose several",
    "notedHead": "{head}: {note}",
    "layers": "Layer ↓",
    "heads": "Head →",
}

CONTROLS = {
    "stack": texts.STACK,
    "layer": "Layer",
    "head": "Head",
    "layerNumber": "Layer {number}",
    "headNumber": "Head {number}",
    "headBefore": "Previous head",
    "headAfter": "Next head",
    "allHeads": "All heads",
    "theseHeads": "these {count} heads",
    "words": "Whole words",
    "wordsHelp": "Show words instead of the word pieces that the model reads.",
    "hide": "Hide special",
    "hideHelp": "Leave out [CLS], [SEP] and other special tokens, and rescale each row.",
    "off": "Switch off",
    "on": "Switch on",
    "offHead": "Switch off {head}",
    "onHead": "Switch on again: {head}",
    "show": texts.SHOW,
    "shows": texts.DRAWING_LABELS,
    "view": "View",
    "scale": texts.COLOURS,
    "lines": "Number of lines, strongest first",
    "zoom": "Zoom",
    "zoomIn": "Zoom in",
    "zoomOut": "Zoom out",
    "fit": "Fit",
    "showAll": "Show the whole map",
    "present": "Present",
    "presentHelp": "Show the picture large, for a room (key P)",
}
CHANGES = {
    "menu": "Change",
    "uniform": "Set to uniform",
    "uniformHelp": "Every query attends to all tokens equally.",
    "layerUniform": "Set the whole layer to uniform",
    "tokenOrLink": "A token, or a link between two tokens",
    "key": "Token that is attended to (key)",
    "query": "Token that attends to it (query)",
    "scope": "Where",
    "scopes": {"all": "Everywhere", "layer": "In layer {layer}", "head": "In layer {layer}, head {head}"},
    "inDecoder": "Within a decoder, and for links from it, choose a layer or a head.",
    "hideToken": "Hide this token",
    "cutLink": "Cut this link",
    "softmax": "How scores become weights",
    "layers": "Layers",
    "allLayers": texts.ALL_LAYERS,
    "oneLayer": texts.ONE_LAYER,
    "temperature": "Temperature",
    "normaliser": "Normalise with",
    "normalisers": {"softmax": "Softmax", "sparse": "Sparse", "hard": "Hard"},
    "wholeRun": "The whole run",
    "causal": "Causal mask (left to right)",
    "causalHelp": "In every layer, no token attends to a later one, as in GPT.",
    "omitPositions": "No positions",
    "omitPositionsHelp": "No position embeddings are added: the model cannot tell the order of the words.",
    "needsPositions": NEEDS_POSITIONS,
    "padding": "Padding that is not masked",
    "limits": "Taking something away shows what this run depended on. It does not show what the model would have learned without "
    "it. Two heads can also replace each other: switch off either one, and little changes.",
}
CHANGED = {
    "row": "What is changed",
    "which": "Which run is shown",
    "states": {"after": "After", "before": "Before", "difference": "Difference"},
    "titles": ["Before", "After", "Difference"],
    "undo": "Undo: {change}",
    "undoHelp": "Undo this change",
    "reset": "Reset",
    "resetHelp": "Undo all changes",
    "moved": "Moved most:",
    "movedHead": "{head}: {share}",
    "movedHelp": "The share of a head's attention that moved to other tokens or was lost, averaged over the queries. Layers "
    "before the first change stay the same. The wall shows the heads after the changes.",
    "movedNote": "{share} of its attention moved",
    "links": "Links that changed most",
    "largest": "The links that changed most",
    "of": "What changed most for {token}",
    "nothing": "Nothing changed here.",
    "off": "Switched off: it looks at nothing now. “Before” shows where it looked.",
}
EXPORT = {
    "menu": "Export",
    "figure": "Figure",
    "figureOf": "Figure of",
    "picture": "the map",
    "width": "Width",
    "widthHelp": "A column of a journal is about 84 mm wide, a page 174 mm.",
    "unit": "Unit",
    "background": "Background",
    "light": "Light",
    "dark": "Dark",
    "caption": "Caption below",
    "svg": "Save as SVG",
    "png": "Save as PNG",
    "pdf": "Print or save as PDF",
    "film": "Save the play as video (WebM)",
    "data": "Data and web page (more below the picture)",
    "csv": "Save this map as CSV",
    "webPage": "Save as web page",
    "share": "Share",
    "copyLink": "Copy the link to this view",
    "copied": f"Copied. {shell_texts.LINK_SHOWS_VIEW}",
    "copyFrame": "Copy HTML for Moodle and other sites",
    "frame": shell_texts.FRAME_HTML,
    "frameCopied": "Copied: a frame that shows this view.",
    "addToLesson": shell_texts.ADD_TO_LESSON,
    "added": "Added: “Write a lesson” lists it.",
}
CAPTION = {
    "meanOfHeads": "mean of {count} heads ({names})",
    "titles": {
        "self": "Attention: {heads}, {model}",
        "decoder": "Attention within the decoder's text: {heads}, {model}",
        "cross": "Attention from the decoder to the text: {heads}, {model}",
    },
    "changedTitles": {
        "self": "Attention before and after a change: {heads}, {model}",
        "decoder": "Attention within the decoder's text, before and after a change: {heads}, {model}",
        "cross": "Attention from the decoder to the text, before and after a change: {heads}, {model}",
    },
    "text": "Text: {sentence}",
    "second": "Second sentence: {sentence}",
    "marked": "Marked: {token}",
    "axes": "Rows are queries, columns are keys.",
    "withoutSpecial": "The text was read without special tokens.",
    "merged": "Word pieces are merged into words: attention to a word is the sum over its pieces, attention from a word the "
    "mean.",
    "specialHidden": "Special tokens are hidden, and each row is rescaled to sum to 1.",
    "changed": "The run was changed: {changes}.",
}
NOTES = {
    "howToRead": texts.HOW_TO_READ,
    "specialTokens": "Special tokens ({tokens}) are markers that the model needs; they are not words of the text.",
    "nothingHidden": texts.NOTHING_HIDDEN,
    "specialHidden": "Special tokens are hidden. They received {share:.2f} of the attention on average; "
    "the rest of each row was rescaled to sum to 1.",
    "howMerged": "Whole words: attention to a word is the sum over its pieces; attention from a word is the mean over its pieces "
    "(Clark et al. 2019).",
    "notAnExplanation": texts.NOT_AN_EXPLANATION,
}
MATRICES = {
    "numbers": "Numbers",
    "numbersHelp": "Write the numbers into the cells.",
    "dimensions": "Dimensions shown",
    "view": "View",
    "steps": "Steps",
    "allSteps": "All steps",
    "stepOf": "{sign}: {title}",
    "dimension": "dimension {name}",
    "chooseCell": "Choose a cell to see the sum behind it.",
    "add": "Products to add",
    "addFirst": "Add the products one by one, the largest first: press it, or compute it.",
    "addAll": "all {count} that are left",
    "enter": "Compute it: {product}",
    "check": "Check",
    "right": "Right: {product}.",
    "wrong": "{typed} is not this product. Compute it again, or press its button.",
    "soFar": "so far",
    "shape": "{rows} × {columns}",
    "shapeDrawn": "{rows} × {columns}, first {shown} drawn",
    "keys": "{title}. Arrow keys choose a cell, Escape clears.",
    "alt": "{title}, {rows} by {columns}. {alt}",
    "squareRoot": "colours by the square root",
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
"""What matrices say, and the arithmetic behind the chosen cell."""
ARCHITECTURE = "The architecture: choose a part or a block"
BLOCK = "Block {number}"
NORM, NORM_AFTER, NORM_BEFORE = "Norm", "Layer norm after {part}", "Layer norm before {part}"
RESIDUAL = "Residual connection past {part}"
TRAINING = {
    "training": "Training",
    "progress": "How far the training is",
    "moments": "Batch of the training at which the model is shown",
    "ends": "Before and after the training",
    "untrained": texts.UNTRAINED_MOMENT,
    "trained": "Trained",
    "showOther": "Show it",
    "step": texts.CURVE_STEP,
    "cell": "{row} · {column}",
    "isRight": "right",
    "answer": "Input and output",
}
PICTURES = {
    "picture": "Picture",
    "keys": "{title}. Arrow keys read out one part after another, Escape clears.",
    "keysChoose": "{title}. Arrow keys read out one part after another, Enter chooses it, Escape clears.",
    "pair": "{row} → {column}",
    "csv": "Save these numbers as CSV",
    "csvHead": ["drawing", "row", "column", "number"],
}
"""What a stage of pictures says beside what its page sends."""
ARC_AGREEMENT = (0.501, 0.497, 0.505)
"""Mean rank correlation of both measures over 500 sentences, and its interval: `tx_core.training.evaluation.arc_agreement`."""
ROUTES = {
    "words": texts.WORD_BUTTONS,
    "shows": "What is shown",
    "showsOptions": {"heads": "Heads", "routes": "Routes"},
    "notShown": "The routes of this model cannot be shown: its parts are not known here, or the server is busy.",
    "play": "Play",
    "pause": "Pause",
    "stepDown": "One layer down",
    "stepUp": "One layer up",
    "layer": "Layer {number}",
    "embeddings": "Embeddings",
    "least": "Hide arcs weaker than",
    "leastHelp": "How much of its log-odds the prediction must lose without an arc: 0.7 halves the odds, 2.3 leaves a tenth.",
    "by": "Arcs by",
    "byOptions": {"effect": "What is lost", "mixed": "What is mixed in"},
    "byHelp": "What is lost: how much less likely the prediction becomes without the arc. What is mixed in: how much of a word's "
    "vector comes by it (value-weighted attention with residual and layer norm, Kobayashi et al. 2021).",
    "mixedHelp": "The same number of arcs, now those that carry most into each word. {agreement}",
    "agreement": "Over 500 sentences both rank the arcs alike only roughly (rank correlation {}, 95 %: {} to {}): attention is "
    "not an explanation.".format(*ARC_AGREEMENT),
    "mixedArc": "In layer {layer} {share} of what enters {query} comes from {key}.",
    "hidden": "{count} of the arcs measured are weaker, and hidden.",
    "noneHidden": "All arcs that were measured are shown.",
    "measuring": "Measuring more arcs …",
    "notMeasured": "Some arcs could not be measured: the server is busy or does not answer. Choose again to go on.",
    "graph": "From the sentence, below, to the prediction, above. Left and right arrows walk through the arcs, the strongest "
    "first, up and down arrows through the layers; Enter chooses.",
    "help": "An arc is one word looking at another in one layer: the wider it is, the more “{word}” loses without it. "
    "Choose an arc, a word below or a layer to switch it off.",
    "helpBasic": "The model predicts “{word}”. Each arc is one word looking at another: {press} an arc, then Cut.",
    "click": "click",
    "tap": "tap",
    "helps": "needed: the wider, the more",
    "hinders": "in the way: without it the guess is surer",
    "tickWithout": "without this arc",
    "tickBefore": "before",
    "title": "From a sentence to a prediction, in {model}",
    "paper": "Each arc is a token, above, that looks at another one, below, in one layer: the wider, the less likely “{word}” is "
    "without it. Orange arcs make it less likely.",
    "csv": "Save the arcs as CSV",
    "csvHead": ["layer", "looks", "is looked at", "log-odds lost without it", "probability without it", "first without it"],
    "arc": "In layer {layer} {query} looks at {key}. Without this, “{word}” falls from {before} to {after}.",
    "arcHinders": "In layer {layer} {query} looks at {key}. Without this, “{word}” rises from {before} to {after}.",
    "arcChanges": "“{first}” would come first.",
    "theBlank": "the blank",
    "otherBlank": "Follow this blank instead: the other one is filled in",
    "token": "“{token}”",
    "place": "Token {number}: {token}",
    "cut": "Cut this arc",
    "heads": "Its heads, by what “{word}” loses without each of them there:",
    "head": "Head {number}",
    "headsOff": "Its heads, by what “{word}” loses without each of them:",
    "headOff": "Switch head {head} of layer {layer} off",
    "off": "Off",
    "hide": "Hide “{token}” from all words",
    "measure": "Measure what “{token}” looks at",
    "layerOff": "Switch layer {number} off",
    "unmoved": "Nothing moves: “{word}” keeps its {after}.",
    "layerMoved": "Layer {layers} now guesses another word first.",
    "layersMoved": "Layers {layers} now guess another word first.",
    "and": " and ",
    "noLayerMoved": "Each layer's first guess stays.",
    "layerFell": "Each layer's first guess stays; its share fell most in layer {layer}, from {before} to {after}.",
    "stays": "“{word}” stays first, with {after}; it had {before}.",
    "becomes": "Now “{word}” comes first, with {after}; it was “{was}”, with {before}. The arcs are now those of “{word}”.",
    "guess": "{layer}: “{word}”, {share}",
    "wasGuess": "was “{word}”",
}
"""What the stage of routes says."""
IN_A_AND_B = "{query} gives {before:.2f} of its attention to {key} in A and {after:.2f} in B ({change})."
SHOWN_IN_A_AND_B = (
    "of its attention to the words shown, {query} gives {before:.2f} to {key} in A and {after:.2f} in B ({change})."
)
SAID = {
    "quoted": "“{token}”",
    "quotedWithNumber": "“{token}” (token {number})",
    "queryOneKey": "{query} gives {weight:.2f} of its attention to {key}.",
    "queryTwoKeys": "{query} gives {weight:.2f} of its attention to {key} and {second_weight:.2f} to {second_key}.",
    "queryEven": "{query} attends almost evenly: no token receives {least:.2f} of its attention.",
    "queryNowhere": "{query} attends to nothing here.",
    "strongestLink": "The strongest link: {query} gives {weight:.2f} of its attention to {key}.",
    "strongestLinkBetweenWords": "The strongest link between words: {query} gives {weight:.2f} of its attention to {key}.",
    "noLink": "Nothing here attends to anything.",
    "shownQueryOneKey": "Of its attention to the words shown, {query} gives {weight:.2f} to {key}.",
    "shownQueryTwoKeys": "Of its attention to the words shown, {query} gives {weight:.2f} to {key} and {second_weight:.2f} to "
    "{second_key}.",
    "shownQueryEven": "{query} attends almost evenly: no token receives {least:.2f} of its attention to the words shown.",
    "shownStrongestLink": "The strongest link: of its attention to the words shown, {query} gives {weight:.2f} to {key}.",
    "average": "Average shares of the attention, over all rows: {shares}.",
    "averageElsewhere": "On average over all rows, special tokens, the token before, the token itself and the token after each "
    "receive less than {least:.2f} of the attention.",
    "averageShares": {
        "special": "{share:.2f} to special tokens",
        "-1": "{share:.2f} to the token before",
        "0": "{share:.2f} to the token itself",
        "1": "{share:.2f} to the token after",
    },
    "noChange": "Nothing changed here.",
    "noChangeForQuery": "Nothing changed for “{query}”.",
    "largestChange": "The largest change: “{query}” gave “{key}” {before:.2f} of its attention and now gives {after:.2f} "
    "({change}).",
    "shownLargestChange": "The largest change: of its attention to the words shown, “{query}” gave “{key}” {before:.2f} and now "
    "gives {after:.2f} ({change}).",
    "movedInAll": "In all, {share:#.2g} of the attention shown moved elsewhere or was lost.",
    "movedOfQuery": "In all, {share:#.2g} of its attention moved elsewhere or was lost.",
    "shownMovedOfQuery": "In all, {share:#.2g} of its attention to the words shown moved elsewhere or was lost.",
    "noCommonWord": "A and B have no word in common, so there is nothing to subtract.",
    "noPartner": "“{word}”, the marked row, has no partner, so there is nothing to subtract.",
    "attendAlike": "Nothing differs by 0.01 or more: A and B attend to their common words alike.",
    "noDifferenceInRow": "Nothing differs by 0.01 or more: {query} attends to the common words alike in A and in B.",
    "largestDifference": "The largest difference: " + IN_A_AND_B,
    "largestBetweenWords": "The largest difference between words: " + IN_A_AND_B,
    "largestInRow": "In the marked row, the largest difference: " + IN_A_AND_B,
    "largestInRowBetweenWords": "In the marked row, the largest difference between words: " + IN_A_AND_B,
    "shownLargestDifference": "The largest difference: " + SHOWN_IN_A_AND_B,
    "shownLargestInRow": "In the marked row, the largest difference: " + SHOWN_IN_A_AND_B,
    "wordNumbers": comparison.WORD_NUMBERS,
    "afterWordNumbers": comparison.AFTER_WORD_NUMBERS,
}
"""The sentences about a map, which the browser fills in. Where special tokens are hidden, shares are of the words shown."""


@cache
def stage_texts() -> Mapping[str, object]:
    """Return every text of a stage, its placeholders as plain names: the browser rounds by itself."""
    everything = {
        "notANumber": "not a number",
        "space": "(space)",
        "empty": "(empty)",
        "toolbar": "How to look at it, and what to change",
        "more": MORE,
        "computing": COMPUTING,
        "ahead": AHEAD,
        "loading": LOADING,
        "notLoaded": NOT_LOADED,
        "about": ABOUT,
        "head": "Layer {layer}, head {head}",
        "meanOfHeads": "Mean of {count} heads",
        "classLegend": CLASS_LEGEND,
        "toPadding": "[PAD] × {padding} takes {share:.2f} of the attention.",
        "csvCorner": "query \\ key",
        "wall": WALL,
        "map": MAP,
        "controls": CONTROLS,
        "changes": CHANGES,
        "changed": CHANGED,
        "export": EXPORT | {"noFrames": shell_texts.NO_FRAMES if host_settings().frame_ancestors == "'self'" else ""},
        "caption": CAPTION,
        "notes": NOTES,
        "matrices": MATRICES,
        "training": TRAINING,
        "pictures": PICTURES,
        "routes": ROUTES,
        "said": SAID,
    }
    return _plain(everything)


def _plain(value: object) -> object:
    """Return nested tables of texts whose placeholders have no formats."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+):[^{}]*\}", r"{\1}", value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value]
