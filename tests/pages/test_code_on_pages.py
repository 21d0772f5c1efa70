"""Build pages show text, equation, code and picture in this order; and the code that they show is the code that runs."""

import pytest

from tests.support.serving import ROOT

pytestmark = pytest.mark.ci

STAGED = [
    *((page, {}) for page in ("self_attention", "classifier", "encoder_decoder")),
    *(("positions", {"part": part}) for part in ("ways", "demands", "shuffle")),
    *(("masks", {"part": part}) for part in ("one", "penalty", "batch")),
]
"""Their picture comes first, as on every page with a stage."""
PAGES = [
    *STAGED,
    *(("heads_and_blocks", {"part": part}) for part in ("embeddings", "heads", "feed", "norm", "depth", "journey")),
    *(("bert", {"part": part}) for part in ("compare", "random", "labels")),
]
PICTURES = {"bidi_component", "plotly_chart", "dataframe"}
IN_THE_BACKGROUND = ("bert", {"part": "compare"})
"""It draws nothing before Hugging Face's library is loaded."""


@pytest.mark.parametrize(("page", "asked"), [one for one in PAGES if one not in STAGED], ids=str)
def test_text_equation_code_and_picture_follow_one_another(open_app, page, asked):
    kinds = [getattr(node, "type", "") for node in open_app(page, **asked).main]
    places = [kinds.index(kind) for kind in ("markdown", "latex", "expander")]
    pictures = [place for place, kind in enumerate(kinds) if kind in PICTURES]
    assert places == sorted(places)
    assert all(place > places[-1] for place in pictures)
    assert pictures or (page, asked) == IN_THE_BACKGROUND


@pytest.mark.parametrize(("page", "asked"), PAGES, ids=str)
def test_the_code_on_the_page_is_the_one_in_the_core(open_app, page, asked):
    app = open_app(page, **asked)
    app.session_state["source_code"] = True
    app.run()
    shown = [code.value for code in app.code if code.language == "python"]
    homes = [caption.value.strip("`") for caption in app.caption if caption.value.startswith("`tx_core/")]
    assert len(shown) == len(homes) > 0
    for source, home in zip(shown, homes, strict=True):
        assert stripped(source) in stripped((ROOT / home).read_text("utf-8"))


def stripped(code: str) -> str:
    """Write code without its indentation, which a method loses on a page."""
    return "\n".join(line.strip() for line in code.splitlines())
