"""What the page on which lessons are written says."""

from pages.ui.panels.question_kinds import MEASURE_TEXTS, QUESTION_VIEWS
from pages.ui.shell.texts import SETTING_NAMES, TRAINING_SIZES
from pages.ui.stage.browser_texts import EXPORT
from tx_core.classroom.lesson_file import MAX_PACKED_CHARACTERS

HOW_TO_ADD = (
    "Choose a page under “Add a step”. Or open any page, set it up as your students should see it, and choose "
    f"“{EXPORT['addToLesson']}” under “{EXPORT['menu']}”."
)
NO_STEPS = "Your lesson has no steps yet."
ABOUT, STEPS, RESULT = "About the lesson", "Steps", "Save and share"
TITLE, LANGUAGE, DIFFICULTY, MINUTES = "Title", "Language of the texts", "Difficulty", "Minutes"
LANGUAGE_HELP = "As “en” or “pt-BR”."
DESCRIPTION = "What will students learn?"
RECAP = "What have they learned? Shown at the end (optional)"
NOTES = "Notes for the teacher (optional)"
FIRST_TITLE, FIRST_DESCRIPTION, FIRST_TEXT = "My lesson", "What one learns in this lesson.", "Look at this view."
STEP_TITLE, STEP_TEXT = "Title of step {number}", "What to do or to look at in step {number}"
KIND = "Question of step {number}"
KINDS = {"none": "no question"} | {kind: view.name for kind, view in QUESTION_VIEWS.items()}
ASK = "What you ask in step {number}"
OPTIONS = "Options of step {number}, one on each line"
TOLERANCE = "How far the number of step {number} may be off"
MEASURE = "How the model answers step {number}"
MEASURES = {"none": "not at all: a vote"} | {measure: said.name for measure, said in MEASURE_TEXTS.items()}
MEASURE_BOXES = {
    "text": "Text that the model reads in step {number}",
    "head": "Layer and head in step {number}, as 5-7",
    "query": "Token that looks in step {number}",
    "key": "Token that is looked at in step {number}",
    "word": "Word whose rank is asked for in step {number}",
    "changes": "Switched off or changed in this step: {changes}",
}
THEN = "What to notice afterwards in step {number} (optional)"
STEP_NOTES = "Notes for the teacher on step {number} (optional)"
DONE_BY_CHANGE = "Step {number} is done only once the learner has changed its view"
UP, DOWN, REMOVE = "Up", "Down", "Remove"
ADD_STEP, CHOOSE_PAGE = "Add a step", "Choose a page"
CHOOSE_TOKEN = "Choose a token"
ANSWER = "{answer} Students see this after their guess."
NO_ANSWER = "The model cannot answer the question of step {number} yet"
NOT_AN_OPTION = "“{answer}” is none of your options: add it."
NOT_KEPT = "This browser does not keep your draft: save the lesson as a file before you leave the page."
RESTORED = "Your draft is back: this browser kept it."
BRING_BACK = "Undo: bring back the lesson as it was before"
MAY_USE = "What students may use"
MORE = "Afterwards, and notes"
PROBLEM = "The lesson cannot be played yet"
MODEL_PROBLEM = "The lesson can be played, but the model cannot answer all of it"
EMPTY_BOX = "This box is empty: {box}"
EMPTY_BOXES = "These boxes are empty: {box}"
FILE = "The lesson as a file"
PREVIEW = "Play it"
USE_IN_CLASS = "Use this lesson in a class"
SAVE = "Save as a file"
LINK = "A link that holds the whole lesson: nothing of it is kept on this server."
FRAME = "HTML that shows it in Moodle and on other sites:"
LOCKED = "Lock: hide the menu and the other pages"
PRESENT = "For the projector"
TOO_LONG_FOR_QR = "This link has {length:,} characters. A QR code that cameras read well takes at most {limit:,}: send the link."
QR_ALT = "QR code of the link to this lesson"
LINK_LIMIT = (
    f"A lesson fits into a link up to {MAX_PACKED_CHARACTERS:,} characters, compressed; a longer one is shared as a file."
)
LOAD = "Or open a lesson from a file"
LOADED = "{title}. Steps: {steps}. Minutes: {minutes}."
PLAY_FILE, EDIT_FILE = "Play this lesson", "Edit this lesson"
SHIPPED = "Begin with a copy of a lesson that is here"
COPY = "Edit a copy"
START_ANEW = "Start a new lesson"
CONTROL_NAMES = {
    "text": "the sentence",
    "heads": "layers and heads",
    "head": "the head",
    "layer": "the layer",
    "stack": "the kind of attention",
    "focus": "a token that is looked at alone",
    "hide": "leaving out [CLS] and [SEP]",
    "cell": "a cell and the sum behind it",
    "part": "the parts of the page",
    **{name: label for name, label in SETTING_NAMES.items() if label != TRAINING_SIZES},
}
"""What students may use in a step, by the name of its field."""
