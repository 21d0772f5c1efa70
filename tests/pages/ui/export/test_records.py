"""Whatever a visitor types, it stays text where only plain letters are safe: in comments, captions and names of files."""

import hypothesis
import pytest
from hypothesis import strategies

from pages.compare.drawings import WordThroughLayers
from pages.compare.export import maps_code, word_code, word_export
from pages.compare.runs import RunPair, run
from pages.compare.state import Side
from pages.fill_mask import export as predictions_export
from pages.fill_mask.blank_attention import BlankView
from pages.fill_mask.export import Lists
from pages.many_sentences.heads import report_code
from pages.summaries import logit_lens
from pages.ui.export.code import header
from pages.ui.export.menu import stand_alone
from pages.ui.export.records import file_stem, one_line, shortened
from pages.ui.panels.predictions import ListSettings, SentencePredictions
from tx_core.analysis.word_comparison import cosines, equal_words, word_similarity, word_vectors
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.interventions import Intervention

HOSTILE = "Li\x00ke\u202eit\u2066 now\r\nimport os\x85import os\u2028import os\x0cimport os\ud800"


@hypothesis.given(strategies.text())
def test_one_line_holds_nothing_unseen_and_every_letter(text: str):
    line = one_line(text)
    assert line.replace("\u200c", "").replace("\u200d", "").isprintable()
    seen = "".join(sign for sign in text if sign.isprintable() or sign in "\u200c\u200d")
    assert line.replace(" ", "") == seen.replace(" ", "")


def test_what_joins_letters_and_emoji_stays():
    assert one_line("می\u200cخواهم 👩\u200d🚀") == "می\u200cخواهم 👩\u200d🚀"


def test_a_name_of_a_file_holds_plain_letters_only():
    assert file_stem("early answers", "some one/bert: «base»") == "early-answers-some-one-bert-base-"


def two_sides(text: str, other: str) -> RunPair:
    """A comparison of two sentences."""
    runs = (run(Side(each, "", "embedded", (0, None), 0, ()), hide=False) for each in (text, other))
    return RunPair(*runs, "text", False)


def followed_first(sides: RunPair, word: str) -> WordThroughLayers:
    """The first word that both sentences have, followed through the layers under some name."""
    vectors = [word_vectors(each.trace.hidden, each.view.query_places) for each in sides.runs]
    spelled = [each.spelled for each in sides.runs]
    places = equal_words(*spelled)[0]
    return WordThroughLayers(places, word, word_similarity(cosines(*vectors), *spelled, places))


def every_code(title: str) -> dict[str, str]:
    """The code of every page under one title."""
    engine = catalogue.load("embedded")
    trace, sides = engine.trace("time ___ like"), two_sides("time flies like", "fruit flies like")
    answer = SentencePredictions("time ___ like", predict(engine, "time ___ like", top_k=3), ((),), ())
    lists, word = Lists("embedded", (answer,), ListSettings(3, 1.0, 1.0, 1.0)), followed_first(sides, "flies")
    seen = BlankView("time ___ like", 0, trace, (Intervention("off", 0, 1),), None)
    return {
        "opening": "\n".join(header(title, "embedded", "import torch")),
        "core lists": predictions_export.project_lists(title, lists),
        "lists": predictions_export.transformers_lists(title, lists),
        "core shift": predictions_export.project_shift(title, lists, seen),
        "shift": predictions_export.transformers_shift(title, lists, seen),
        "core maps": maps_code(title, sides),
        "core word": word_code(title, sides, word),
        "many": report_code(title, read_all(engine, embedded_sentences())),
        "core lens": logit_lens.code(title, trace, 2, 5),
    }


@pytest.fixture(scope="module")
def hostile_codes() -> dict[str, str]:
    return every_code(HOSTILE)


def test_the_first_comment_of_every_code_holds_a_hostile_title_as_one_line_that_is_seen(hostile_codes: dict[str, str]):
    for name, code in hostile_codes.items():
        first, *rest = code.split("\n")
        assert first.startswith("# Li ke it now import os import os"), name
        assert first.isprintable(), name
        assert "import os" not in rest, name
        compile(code, name, "exec")


def test_a_word_with_a_nul_is_exported_as_code_that_runs_and_a_page_that_shows_its_letters():
    sides = two_sides("Li\x00ke it", "Li\x00ke \u202eme")
    export = word_export(sides, followed_first(sides, "Li\x00ke"))
    code = export.code.project()
    assert "\x00" not in code
    compile(code, "word", "exec")
    page = stand_alone(export)
    head = page[: page.index('<div class="attention-view')]
    assert not set("\x00\u202e") & set(head)
    assert "Li ke" in head


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("time flies", "time flies"),
        ("time flies away", "time flies …"),
        ("time fliesaway", "time …"),
        ("timefliesaway", "timefliesa …"),
        ("", ""),
    ],
)
def test_a_long_text_is_shortened_by_whole_words(text: str, shown: str):
    assert shortened(text, 10) == shown
