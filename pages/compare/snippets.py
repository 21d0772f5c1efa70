"""Python for a comparison: both maps with their difference, and a word's vectors, by this project."""

from typing import TYPE_CHECKING

from pages.compare.run import heads_of
from pages.compare.sides import Sides
from pages.ui.export.project_code import IMPORT_CHANGES, interventions_literal
from pages.ui.shell.plain_names import one_line
from tx_core.engine import catalogue

if TYPE_CHECKING:
    from pages.compare.word_similarity import Followed

NAMES = ("a", "b")


def core_maps(title: str, sides: Sides) -> str:
    """Write the code that compares both maps by tx_core."""
    return "\n".join(
        [
            *_core_sides(title, sides, "import numpy as np", "from tx_core.analysis.comparison import compare"),
            "found = compare(view_a, view_b, spelled_a, spelled_b, weights_a, weights_b)",
            "both = [row for row, places in enumerate(found.rows) if None not in places]",
            "difference = found.difference[np.ix_(both, both)]",
            "",
            'print(found.labels, found.rows, weights_a.round(3), weights_b.round(3), difference.round(3), sep="\\n")',
            "",
        ]
    )


def core_word(title: str, sides: Sides, followed: "Followed") -> str:
    """Write the code that follows a word through the layers of A and B by tx_core."""
    return "\n".join(
        [
            *_core_sides(title, sides, "", "from tx_core.analysis.word_comparison import cosines, word_similarity, word_vectors"),
            "vectors_a = word_vectors(trace_a.hidden, view_a.query_places)",
            "vectors_b = word_vectors(trace_b.hidden, view_b.query_places)",
            f"found = word_similarity(cosines(vectors_a, vectors_b), spelled_a, spelled_b, {tuple(followed.places)})",
            "word, different = found.word, found.mean",
            "",
            'print(word, different, sep="\\n")',
            "",
        ]
    )


def _core_sides(title: str, sides: Sides, first: str, own: str) -> list[str]:
    """Write what runs A and B and prepares their maps."""
    changed = any(run.trace.interventions for run in sides.runs)
    imported = ["from tx_core import load", "from tx_core.analysis import views, word_comparison", own]
    imported += [IMPORT_CHANGES] if changed else []
    imported += ["from tx_core.lessons.untrained import untrained_engine"] if sides.seeded else []
    lines = [
        f"# {one_line(title)}. Run it in the root folder of this project.",
        *([first, ""] if first else []),
        *sorted(imported),
    ]
    for name, run in zip(NAMES, sides.runs, strict=True):
        changes = run.trace.interventions
        pair = [repr(run.side.pair)] if run.side.pair else []
        made = [f"interventions={interventions_literal(changes)}"] if changes else []
        given = [repr(run.side.text), *pair, 'keep=("weights", "hidden")', *made]
        heads = heads_of(run.side.head, run.view.weights.shape[1])
        lines += [
            "",
            f"engine_{name} = load({catalogue.card(run.side.model).name!r})",
            *([f"engine_{name} = untrained_engine(engine_{name}, {run.side.seed})"] if run.side.seed else []),
            f"trace_{name} = engine_{name}.trace({', '.join(given)})",
            f"view_{name} = views.view(trace_{name}.attention, merge_words=True, hide_special={sides.hide})",
            f"spelled_{name} = word_comparison.spell_words(trace_{name}.attention.query_tokens, view_{name}.query_places)",
            f"weights_{name} = views.mean_of_heads(view_{name}.weights, {heads})  # (layer, head), counted from 0",
        ]
    return [*lines, ""]
