"""Python for the map on the screen by this project's core, all that changes its numbers included."""

from pages.ui.export.carried import Carried
from pages.ui.shell.plain_names import one_line
from tx_core.engine import catalogue
from tx_core.transformer.interventions import UNCHANGED, Interventions

IMPORT_CHANGES = "from tx_core.transformer.interventions import Interventions"


def core_snippet(carried: Carried) -> str:
    """Write the code that computes the map by tx_core, all that changes its numbers included."""
    changes, view = carried.trace.interventions, carried.shown.view
    text, pair = carried.sentences
    given = [repr(text), *([repr(pair)] if pair else []), *(["interventions=changes"] if changes != UNCHANGED else [])]
    asked = [
        name for name, on in (("merge_words=True", carried.options.words), ("hide_special=True", carried.options.hide)) if on
    ]
    stack = [stack.kind for stack in carried.trace.stacks].index(view.kind)
    return "\n".join(
        [
            *opening(carried.title, carried.trace.model, "from tx_core import load\nfrom tx_core.analysis import views", changes),
            f"trace = engine.trace({', '.join(given)})",
            f"view = views.view({', '.join([f'trace.stacks[{stack}]', *asked])})",
            f"heads = {[tuple(head) for head in carried.shown.heads]}  # (layer, head), counted from 0",
            "weights = views.mean_of_heads(view.weights, heads)",
            "",
            "print(view.queries, view.keys, weights.round(3), sep='\\n')",
            "",
        ]
    )


def opening(title: str, model: str, imports: str, changes: Interventions = UNCHANGED) -> list[str]:
    """Write what every such code begins with: what it computes, the imports, the engine, the changes if there are any."""
    changed = changes != UNCHANGED
    return [
        f"# {one_line(title)}. Run it in the root folder of this project.",
        *imports.splitlines(),
        *([IMPORT_CHANGES] if changed else []),
        "",
        f"engine = load({catalogue.card(model).name!r})",
        *([f"changes = {written_changes(changes)}"] if changed else []),
    ]


def written_changes(changes: Interventions) -> str:
    """Write the changes of a run as Python, the same for the same changes."""
    given = {name: sorted(getattr(changes, name), key=repr) for name in changes.__dataclass_fields__}
    return f"Interventions({', '.join(f'{name}=frozenset({values})' for name, values in given.items() if values)})"
