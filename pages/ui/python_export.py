"""Python that computes what is on the screen: once with this project's core, once with the transformers library alone."""

import streamlit as st

from pages.ui.address import key
from pages.ui.carried import Carried
from pages.ui.library_snippet import library_snippet
from tx_core import models
from tx_core.interventions import UNCHANGED, Interventions

WAYS = {"core": "With this project", "library": "With transformers alone"}


def python(page: str, carried: Carried) -> None:
    """Show the code, ready to be copied; both ways end with the numbers on the screen as `weights`."""
    way = st.segmented_control("Which Python", list(WAYS), format_func=WAYS.get, default="core", required=True,
                               key=key(page, "python_way"), label_visibility="collapsed")  # fmt: skip
    code = core_snippet(carried) if way == "core" else library_snippet(carried)
    st.code(code, language=None, wrap_lines=True)  # the colours of Streamlit for Python are too pale on light
    st.caption("It ends with `weights`, a row for each token that looks: the numbers of the map above.")


def core_snippet(carried: Carried) -> str:
    """Write the code that computes the map by tx_core, all that changes its numbers included."""
    changes, view = carried.trace.interventions, carried.shown.view
    text, pair = carried.sentences
    given = [repr(text), *([repr(pair)] if pair else []), *(["interventions=changes"] if changes != UNCHANGED else [])]
    asked = [
        name for name, on in (("merge_words=True", carried.options.words), ("hide_special=True", carried.options.hide)) if on
    ]
    stack = [stack.kind for stack in carried.trace.stacks].index(view.kind)
    return "\n".join([
        f"# {carried.title}. Run it in the root folder of this project.",
        "from tx_core import models, views",
        *(["from tx_core.interventions import Interventions"] if changes != UNCHANGED else []),
        "",
        f"engine = models.load({models.card(carried.trace.model).name!r})",
        *([f"changes = {_written(changes)}"] if changes != UNCHANGED else []),
        f"trace = engine.trace({', '.join(given)})",
        f"view = views.view({', '.join([f'trace.stacks[{stack}]', *asked])})",
        f"heads = {[tuple(head) for head in carried.shown.heads]}  # (layer, head), counted from 0",
        "weights = views.mean_of_heads(view.weights, heads)",
        "",
        "print(view.queries, view.keys, weights.round(3), sep='\\n')",
        "",
    ])  # fmt: skip


def _written(changes: Interventions) -> str:
    """Write the changes of a run as Python, the same for the same changes."""
    given = {name: sorted(getattr(changes, name), key=repr) for name in changes.__dataclass_fields__}
    return f"Interventions({', '.join(f'{name}=frozenset({values})' for name, values in given.items() if values)})"
