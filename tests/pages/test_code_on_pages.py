"""The code that a page of Build shows is the code that runs."""

import pytest

from tests.support.serving import ROOT

pytestmark = pytest.mark.ci

PAGES = [
    *((page, {}) for page in ("self_attention", "classifier", "encoder_decoder")),
    *(("positions", {"part": part}) for part in ("ways", "demands", "shuffle")),
    *(("masks", {"part": part}) for part in ("one", "why", "penalty", "batch")),
    *(("heads_and_blocks", {"part": part}) for part in ("embeddings", "heads", "feed", "norm", "depth", "journey")),
    *(("bert", {"part": part}) for part in ("compare", "random", "labels", "family")),
]


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
