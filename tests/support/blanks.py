"""What the stage of Fill the blank was sent, and what its reader asks it for, for tests without a browser."""

from streamlit.testing.v1 import AppTest

from pages.ui.shell.address import KEPT_PARAMETERS
from tests.support.staged import ask_stage, staged

Bar = dict[str, object]


def likely(app: AppTest) -> list[Bar]:
    """The bars of the most likely words at the blank that is looked at."""
    return staged(app)["prediction"]["likely"]


def followed(app: AppTest) -> list[Bar]:
    """The bars of the words to follow."""
    return staged(app)["prediction"]["followed"]


def predicts(app: AppTest) -> bool:
    """Whether the stage has a prediction to show."""
    return staged(app)["prediction"] is not None


def pictured(app: AppTest) -> str:
    """All that the stage says of the prediction in sentences."""
    told = staged(app)["prediction"]
    return "\n".join([told["headline"], told["rest"], told["guessed"], *told["contrasts"], *told["notes"]])


def words(app: AppTest, sentence: int = 0) -> list[tuple[str, bool]]:
    """The words of a sentence, each with whether it is a blank."""
    return [tuple(word) for word in staged(app)["sentences"][sentence]["words"]]


def ask(app: AppTest, **wanted: object) -> AppTest:
    """Report what a reader asks the stage for, with the address that the stage has written, and run the page."""
    address = staged(app)["address"]
    if address["isKept"]:  # a room's
        return ask_stage(app, "interventions", wanted)
    kept = (*KEPT_PARAMETERS, *address["defaults"])
    for name in [name for name in app.query_params if name not in kept]:
        del app.query_params[name]
    if not address["isFirst"]:
        app.query_params.update(address["own"])
    return ask_stage(app, "interventions", wanted)


def click_word(app: AppTest, place: int, sentence: int = 0) -> AppTest:
    """Click a word of a sentence."""
    clicked = staged(app)["sentences"][sentence]
    return ask(app, word={"name": clicked["name"], "number": place, "text": clicked["typed"]})
