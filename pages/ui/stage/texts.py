"""All that a stage says by itself, in one table: the browser is handed it once, below the hash of the scripts."""

import re
from collections.abc import Mapping
from functools import cache

from pages.ui.canvas import texts as canvas_texts
from pages.ui.export import texts as export_texts
from pages.ui.export.lessons import COLUMNS
from pages.ui.panels import texts as panel_texts
from pages.ui.shell import texts as shell_texts
from tx_core.analysis import comparison, sentences, word_comparison
from tx_core.transformer.interventions import NEEDS_POSITIONS

TOOLBAR = "How to look at it, and what to change"
MORE = "More controls"
COMPUTING = "Computing …"
AHEAD = "ahead: forbidden (causal mask)"
LOADING = "Loading this layer …"
NOT_LOADED = "This layer could not be loaded: the server does not answer. Choose another head, or load the page again."
ABOUT = "What this head does"

CONTROLS = {
    "stack": panel_texts.STACK,
    "layer": "Layer",
    "head": "Head",
    "layerNumber": "Layer {number}",
    "headNumber": "Head {number}",
    "headBefore": "Previous head",
    "headAfter": "Next head",
    "allHeads": "All heads",
    "theseHeads": "these {count} heads",
    "words": panel_texts.WHOLE_WORDS,
    "wordsHelp": panel_texts.WHOLE_WORDS_HELP,
    "hide": "Hide special",
    "hideHelp": panel_texts.HIDE_SPECIAL_HELP,
    "off": "Switch off",
    "on": "Switch on",
    "offHead": "Switch off {head}",
    "onHead": "Switch on again: {head}",
    "show": panel_texts.SHOW,
    "shows": panel_texts.DRAWING_LABELS,
    "view": "View",
    "scale": panel_texts.COLOURS,
    "lines": panel_texts.LINES,
    "zoom": canvas_texts.MAP["zoom"],
    "zoomIn": canvas_texts.MAP["zoomIn"],
    "zoomOut": canvas_texts.MAP["zoomOut"],
    "fit": canvas_texts.MAP["fit"],
    "showAll": canvas_texts.MAP["showAll"],
    "present": "Present",
    "presentHelp": "Show the picture large, for a room (key P)",
    "full": "Full screen",
}
CHANGES = {
    "menu": "Change",
    "uniform": panel_texts.SET_TO_UNIFORM,
    "uniformHelp": panel_texts.SET_TO_UNIFORM_HELP,
    "layerUniform": panel_texts.SET_LAYER_TO_UNIFORM,
    "tokenOrLink": panel_texts.TOKEN_OR_LINK.strip("*"),
    "key": panel_texts.CHANGED_KEY,
    "query": panel_texts.CHANGED_QUERY,
    "scope": panel_texts.CHANGE_SCOPE,
    "scopes": panel_texts.CHANGE_SCOPES,
    "inDecoder": panel_texts.SCOPE_IN_DECODER,
    "hideToken": panel_texts.HIDE_TOKEN,
    "cutLink": panel_texts.CUT_LINK,
    "softmax": panel_texts.SOFTMAX.strip("*"),
    "layers": panel_texts.SOFTMAX_LAYERS,
    "allLayers": panel_texts.ALL_LAYERS,
    "oneLayer": panel_texts.ONE_LAYER,
    "temperature": panel_texts.SOFTMAX_TEMPERATURE,
    "normaliser": panel_texts.NORMALISER,
    "normalisers": panel_texts.NORMALISER_LABELS,
    "wholeRun": panel_texts.WHOLE_RUN.strip("*"),
    "causal": panel_texts.CAUSAL_MASK,
    "causalHelp": panel_texts.CAUSAL_MASK_HELP,
    "omitPositions": panel_texts.OMIT_POSITIONS,
    "omitPositionsHelp": panel_texts.OMIT_POSITIONS_HELP,
    "needsPositions": NEEDS_POSITIONS,
    "padding": panel_texts.UNMASKED_PADDING,
    "limits": panel_texts.CHANGES_LIMITS,
}
CHANGED = {
    "row": "What is changed",
    "which": "Which run is shown",
    "states": {"after": "After", "before": "Before", "difference": "Difference"},
    "titles": canvas_texts.CHANGED_MAP["titles"],
    "undo": "Undo: {change}",
    "undoHelp": panel_texts.UNDO_CHANGE,
    "reset": panel_texts.RESET_CHANGES,
    "resetHelp": panel_texts.RESET_CHANGES_HELP,
    "moved": "Moved most:",
    "movedHead": panel_texts.MOVED_HEAD,
    "movedHelp": panel_texts.MOVED_HEADS_HELP,
    "movedNote": "{share} of its attention moved",
    "links": canvas_texts.CHANGED_MAP["changedLinks"],
    "largest": canvas_texts.CHANGED_MAP["largestChanges"],
    "of": canvas_texts.CHANGED_MAP["changesOf"],
    "nothing": canvas_texts.CHANGED_MAP["nothingChanged"],
}
EXPORT = {
    "menu": "Export",
    "figure": "Figure",
    "figureOf": "Figure of",
    "picture": "the map",
    "width": "Width",
    "widthHelp": export_texts.WIDTH_HELP,
    "unit": export_texts.ASK_UNIT,
    "background": export_texts.ASK_BACKGROUND,
    "light": export_texts.LIGHT,
    "dark": export_texts.DARK,
    "caption": export_texts.ASK_CAPTION,
    "svg": export_texts.SAVE_FIGURE["svg"],
    "png": export_texts.SAVE_FIGURE["png"],
    "pdf": "Print or save as PDF",
    "data": "Data and web page (more below the picture)",
    "csv": "Save this map as CSV",
    "webPage": "Save as web page",
    "share": "Share",
    "copyLink": "Copy the link to this view",
    "copied": f"Copied. {shell_texts.LINK_SHOWS_VIEW}",
    "addToLesson": shell_texts.ADD_TO_LESSON,
    "added": "Added: “Write a lesson” lists it.",
}
CAPTION = {
    "meanOfHeads": export_texts.MEAN_OF_HEADS,
    "titles": export_texts.ATTENTION_TITLES,
    "changedTitles": export_texts.CHANGED_ATTENTION_TITLES,
    "text": export_texts.TEXT,
    "second": export_texts.SECOND_SENTENCE,
    "marked": export_texts.MARKED,
    "axes": export_texts.AXES,
    "withoutSpecial": export_texts.WITHOUT_SPECIAL,
    "merged": export_texts.MERGED,
    "specialHidden": export_texts.SPECIAL_HIDDEN,
    "changed": export_texts.CHANGED,
}
NOTES = {
    "howToRead": panel_texts.HOW_TO_READ,
    "specialTokens": panel_texts.SPECIAL_TOKENS,
    "nothingHidden": panel_texts.NOTHING_HIDDEN,
    "specialHidden": panel_texts.SPECIAL_HIDDEN,
    "howMerged": panel_texts.HOW_MERGED,
    "notAnExplanation": panel_texts.NOT_AN_EXPLANATION,
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
    "csv": "Save these matrices as CSV",
    "stepsShown": "Shown: {titles}",
    "fullTitle": "{title}: {formula}",
    "csvHead": ["matrix", "row", "column", "number"],
    "chooseCell": "Choose a cell to see the sum behind it.",
    "add": "Products to add",
    "addFirst": "Add the products one by one, the largest first:",
    "addAll": "all {count} that are left",
    "soFar": "so far",
}
"""What a stage of matrices says beside canvas_texts.MATRIX_ROW."""
ARCHITECTURE = "The architecture: choose a part or a block"
BLOCK = "Block {number}"
NORM, NORM_AFTER, NORM_BEFORE = "Norm", "Layer norm after {part}", "Layer norm before {part}"
RESIDUAL = "Residual connection past {part}"
TRAINING = {
    "training": "Training",
    "progress": "How far the training is",
    "moments": panel_texts.MOMENTS,
    "ends": "Before and after the training",
    "untrained": panel_texts.UNTRAINED_MOMENT,
    "trained": panel_texts.TRAINED_MOMENT,
    "showOther": panel_texts.SHOW_OTHER_MODEL,
    "step": panel_texts.CURVE_STEP,
    "cell": "{row} · {column}",
    "isRight": "right",
    "answer": "Input and output",
}
PICTURES = {
    "picture": "Picture",
    "keys": "{title}. Arrow keys read out one part after another, Escape clears.",
    "keysChoose": "{title}. Arrow keys read out one part after another, Enter chooses it, Escape clears.",
    "pair": canvas_texts.PAIR_OF_NAMES,
    "csv": "Save these numbers as CSV",
    "csvHead": list(COLUMNS),
}
"""What a stage of pictures says beside what its page sends."""
ARC_AGREEMENT = (0.501, 0.497, 0.505)
"""Mean rank correlation of both measures over 500 sentences, and its interval: `tx_core.training.evaluation.arc_agreement`."""
ROUTES = {
    "words": panel_texts.WORD_BUTTONS,
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
    "helpBasic": "Choose arcs to cut.",
    "helps": "needed",
    "hinders": "in the way",
    "title": "From a sentence to a prediction, in {model}",
    "paper": "Each arc is a token, above, that looks at another one, below, in one layer: the wider, the less likely “{word}” is "
    "without it. Orange arcs make it less likely.",
    "csv": "Save the arcs as CSV",
    "csvHead": ["layer", "looks", "is looked at", "log-odds lost without it", "probability without it", "first without it"],
    "arc": "In layer {layer} {query} looks at {key}. Without this, “{word}” falls from {before} to {after}.",
    "arcHinders": "In layer {layer} {query} looks at {key}. Without this, “{word}” rises from {before} to {after}.",
    "arcChanges": "“{first}” would come first.",
    "theBlank": "the blank",
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
    "layersMoved": "Another guess comes first in: {layers}.",
    "noLayerMoved": "Every layer guesses as before.",
    "stays": "“{word}” stays first, with {after}; it had {before}.",
    "becomes": "Now “{word}” comes first, with {after}; it was “{was}”, with {before}.",
    "reset": panel_texts.RESET_CHANGES,
    "undo": "Undo: {change}",
    "guess": "{layer}: “{word}”, {share}",
    "wasGuess": "was “{word}”",
}
"""What the stage of routes says."""
SAID = {
    "quoted": sentences.QUOTED,
    "quotedWithNumber": sentences.QUOTED_WITH_NUMBER,
    "queryOneKey": sentences.QUERY_ONE_KEY,
    "queryTwoKeys": sentences.QUERY_TWO_KEYS,
    "queryEven": sentences.QUERY_EVEN,
    "queryNowhere": sentences.QUERY_NOWHERE,
    "strongestLink": sentences.STRONGEST_LINK,
    "strongestLinkBetweenWords": sentences.STRONGEST_LINK_BETWEEN_WORDS,
    "noLink": sentences.NO_LINK,
    "shownQueryOneKey": sentences.SHOWN_QUERY_ONE_KEY,
    "shownQueryTwoKeys": sentences.SHOWN_QUERY_TWO_KEYS,
    "shownQueryEven": sentences.SHOWN_QUERY_EVEN,
    "shownStrongestLink": sentences.SHOWN_STRONGEST_LINK,
    "average": sentences.AVERAGE,
    "averageElsewhere": sentences.AVERAGE_ELSEWHERE,
    "averageShares": {str(kind): template for kind, template in sentences.AVERAGE_SHARES.items()},
    "noChange": comparison.NO_CHANGE,
    "noChangeForQuery": comparison.NO_CHANGE_FOR_QUERY,
    "largestChange": comparison.LARGEST_CHANGE,
    "shownLargestChange": comparison.SHOWN_LARGEST_CHANGE,
    "movedInAll": comparison.MOVED_IN_ALL,
    "movedOfQuery": comparison.MOVED_OF_QUERY,
    "shownMovedOfQuery": comparison.SHOWN_MOVED_OF_QUERY,
    "noCommonWord": comparison.NO_COMMON_WORD,
    "noPartner": comparison.NO_PARTNER,
    "attendAlike": comparison.ATTEND_ALIKE,
    "noDifferenceInRow": comparison.NO_DIFFERENCE_IN_ROW,
    "largestDifference": comparison.LARGEST_DIFFERENCE,
    "largestBetweenWords": comparison.LARGEST_BETWEEN_WORDS,
    "largestInRow": comparison.LARGEST_IN_ROW,
    "largestInRowBetweenWords": comparison.LARGEST_IN_ROW_BETWEEN_WORDS,
    "shownLargestDifference": comparison.SHOWN_LARGEST_DIFFERENCE,
    "shownLargestInRow": comparison.SHOWN_LARGEST_IN_ROW,
    "wordNumbers": word_comparison.WORD_NUMBERS,
    "afterWordNumbers": word_comparison.AFTER_WORD_NUMBERS,
}
"""The sentences of tx_core.analysis about a map, which the browser fills in itself."""


@cache
def stage_texts() -> Mapping[str, object]:
    """Return every text of a stage, its placeholders as plain names: the browser rounds by itself."""
    everything = {
        **canvas_texts.CORE,
        "toolbar": TOOLBAR,
        "more": MORE,
        "computing": COMPUTING,
        "ahead": AHEAD,
        "loading": LOADING,
        "notLoaded": NOT_LOADED,
        "about": ABOUT,
        "head": canvas_texts.WALL["head"],
        "meanOfHeads": canvas_texts.WALL["meanOfHeads"],
        "classLegend": canvas_texts.CLASS_LEGEND,
        "toPadding": panel_texts.TO_PADDING,
        "csvCorner": "query \\ key",
        "wall": canvas_texts.WALL | {"alt": canvas_texts.WALL_ALT},
        "map": canvas_texts.MAP,
        "controls": CONTROLS,
        "changes": CHANGES,
        "changed": CHANGED,
        "export": EXPORT,
        "caption": CAPTION,
        "notes": NOTES,
        "matrixRow": canvas_texts.MATRIX_ROW,
        "matrices": MATRICES,
        "training": TRAINING,
        "matricesGrid": canvas_texts.MATRICES,
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
