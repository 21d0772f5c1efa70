"""Code on a page is the code that runs."""

import inspect
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.ui.shell.frame import home_of, source_of
from tx_core.transformer import attention, layers


def test_the_source_is_the_text_of_the_file():
    written = Path(attention.__file__).read_text("utf-8")
    source = source_of(attention.attend)
    assert source.startswith("def attend(")
    assert source in written
    assert home_of(attention.attend) == "tx_core/transformer/attention.py"


def test_a_class_is_shown_whole():
    assert source_of(layers.LayerNorm) == inspect.getsource(layers.LayerNorm).rstrip()
    assert home_of(layers.LayerNorm) == "tx_core/transformer/layers.py"


def shown() -> None:
    from pages.ui.shell.frame import show_source
    from tx_core.transformer.attention import attend, softmax

    show_source(attend, softmax)


def test_code_is_sent_only_when_it_is_unfolded_every_function_under_its_file():
    app = AppTest.from_function(shown).run(timeout=30)
    assert [len(app.expander), len(app.code), len(app.caption)] == [1, 0, 0]
    app.session_state["source_code"] = True
    app.run()
    assert [code.value for code in app.code] == [source_of(attention.attend), source_of(attention.softmax)]
    assert [caption.value for caption in app.caption] == ["`tx_core/transformer/attention.py`"] * 2
