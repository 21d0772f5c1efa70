"""Python that computes what is shown with this project."""

from collections.abc import Sequence

from pages.ui.export import texts
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.records import one_line
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention, canonical

ATTENTION_IMPORTS = "from tx_core import load\nfrom tx_core.analysis import views"
IMPORT_CHANGES = "from tx_core.transformer.interventions import Intervention"


def attention_code(exported: AttentionMap) -> str:
    """Write the code for a map, with every option and intervention that changes its numbers."""
    changes, (text, pair) = exported.trace.interventions, exported.sentences
    sentences = [repr(text), *([repr(pair)] if pair else [])]
    chosen = (("merge_words=True", exported.options.words), ("hide_special=True", exported.options.hide))
    options = [name for name, on in chosen if on]
    stack = [stack.kind for stack in exported.trace.stacks].index(exported.shown.view.kind)

    def view(*arguments: str) -> str:
        """Write the view of a run with these arguments."""
        run = f"engine.trace({', '.join(arguments)})"
        return f"views.view({', '.join([f'{run}.stacks[{stack}]', *options])})"

    return "\n".join(
        [
            *header(exported.title, exported.trace.model, ATTENTION_IMPORTS, changes, special_tokens=exported.reads_special),
            f"view = {view(*sentences, *(['interventions=changes'] if changes else []))}",
            f"heads = {[tuple(head) for head in exported.shown.heads]}  # (layer, head), counted from 0",
            "weights = views.mean_of_heads(view.weights, heads)",
            *(_difference(view(*sentences)) if changes else ["", "print(view.queries, view.keys, weights.round(3), sep='\\n')"]),
            "",
        ]
    )


def _difference(unchanged: str) -> list[str]:
    """Write what sets the weights beside those of the unchanged run. unchanged: the code of its view."""
    return [
        f"before = views.mean_of_heads({unchanged}.weights, heads)",
        "difference = weights - before",
        "",
        "print(view.queries, view.keys, before.round(3), weights.round(3), difference.round(3), sep='\\n')",
    ]


def header(
    title: str, model: str, imports: str, changes: Sequence[Intervention] = (), *, special_tokens: bool = True
) -> list[str]:
    """Write the first lines of any such code: a comment, the imports, the engine, the interventions."""
    return [
        texts.PROJECT_COMMENT.format(title=one_line(title)),
        *imports.splitlines(),
        *([IMPORT_CHANGES] if changes else []),
        "",
        load_line(catalogue.card(model).name, special_tokens),
        *([f"changes = {interventions_literal(changes)}"] if changes else []),
    ]


def load_line(model: str, special_tokens: bool = True, name: str = "engine") -> str:
    """Write the line that loads an engine, which may read texts without special tokens. name: of its variable."""
    return f"{name} = load({model!r}{'' if special_tokens else ', special_tokens=False'})"


def interventions_literal(changes: Sequence[Intervention]) -> str:
    """Write interventions as Python, sorted, so that equal interventions give equal code."""
    return repr(list(canonical(changes)))
