"""Every sentence that the export menu and its files show."""

TITLE = "Export: data and code (figure and web page: in the picture)"
TITLE_WITHOUT_STAGE = "Export: data and code"
ASK_VIEW = "View to export"
ASK_FORM = "Export as"
DATA, CODE = "Data", "Code"

ATTENTION_MAP = "The attention map"

ASK_DATA = "Which data"
SHOWN_WEIGHTS = "What is shown"
ALL_WEIGHTS = "Every layer and head"
ROWS = "{count:,} rows. NPZ holds numpy arrays."
EVERY_FILE = (
    "Every file names model, revision, text, changes, version and link; in a CSV these lines begin with #: "
    '`pandas.read_csv(file, comment="#")`.'
)
SAVE_AS = "Save as {form}"
TOO_LARGE = (
    "A CSV or JSON file holds at most {csv:,} numbers here, an NPZ file {npz:,}: choose NPZ, what is shown, or a shorter text."
)

TABLE_CUT = "The first {shown:,} of {all:,} rows. The data files hold all of them."

THIS_PART = "This part of the page"
TRAINING = "The training"
NUMBERS_TABLE = "The numbers as a table"
NUMBERS = "All numbers"

ASK_CODE = "Which code"
PROJECT_CODE = "With this project"
TRANSFORMERS_CODE = "With transformers only"
NEEDS_PROJECT = "This code needs this project: run it in the project's root folder."
SAVE_NOTEBOOK = "Save as notebook (.ipynb)"
NOTEBOOK_NEEDS = {
    PROJECT_CODE: "Needs this project: keep the notebook in its root folder, or run `pip install .` there once. "
    "Nothing is installed from here.",
    TRANSFORMERS_CODE: "Needs `torch` and `transformers`. Nothing is installed from here.",
}
NOTEBOOK_LINK = "[The view that it computes]({link})"
CODE_TITLES = {
    PROJECT_CODE: "{title}. Run it in the root folder of this project.",
    TRANSFORMERS_CODE: "{title}, with transformers only.",
}
