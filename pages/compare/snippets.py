"""Python for a comparison: both maps with their difference, and a word's vectors, by this project and by transformers alone."""

from typing import TYPE_CHECKING

from pages.compare.run import Run, heads_of
from pages.compare.sides import Sides
from pages.ui.export.carried import Carried
from pages.ui.export.core_snippet import IMPORT_CHANGES, written_changes
from pages.ui.export.library_snippet import imports, weights_lines
from pages.ui.panels.attention_panel import Shown
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell.plain_names import one_line
from tx_core.engine import catalogue
from tx_core.transformer.interventions import UNCHANGED

if TYPE_CHECKING:
    from pages.compare.word_similarity import Followed
    from tx_core.analysis.comparison import Comparison

NAMES = ("a", "b")
DIFFERENCE = """
both = [places for places in rows if None not in places]
ones, others = [one for one, _ in both], [other for _, other in both]
difference = weights_b[others][:, others] - weights_a[ones][:, ones]

print(weights_a, weights_b, difference, sep="\\n")
"""
COSINES = """
sides = ((hidden_a, words_a), (hidden_b, words_b))
vectors = [torch.stack([hidden[:, places].double().mean(1) for places in words], 1) for hidden, words in sides]
cosines = torch.einsum("swh,svh->swv", *[torch.nn.functional.normalize(side, dim=-1) for side in vectors])
word = cosines[:, CHOSEN[0], CHOSEN[1]]
pairs = [(i, j) for i, one in enumerate(spelled_a) for j, other in enumerate(spelled_b) if one and other and one != other]
different = torch.stack([cosines[:, i, j] for i, j in pairs], 1).mean(1) if pairs else None

print(word, different, sep="\\n")
"""


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
            *_core_sides(title, sides, "", "from tx_core.analysis.word_similarity import cosines, likeness, word_vectors"),
            "vectors_a = word_vectors(trace_a.hidden, view_a.query_places)",
            "vectors_b = word_vectors(trace_b.hidden, view_b.query_places)",
            f"found = likeness(cosines(vectors_a, vectors_b), spelled_a, spelled_b, {tuple(followed.places)})",
            "word, different = found.word, found.mean",
            "",
            'print(word, different, sep="\\n")',
            "",
        ]
    )


def _core_sides(title: str, sides: Sides, first: str, own: str) -> list[str]:
    """Write what runs A and B and prepares their maps."""
    changed = any(run.trace.interventions != UNCHANGED for run in sides.runs)
    imported = ["from tx_core import load", "from tx_core.analysis import views, word_alignment", own]
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
        made = [f"interventions={written_changes(changes)}"] if changes != UNCHANGED else []
        given = [repr(run.side.text), *pair, 'keep=("weights", "hidden")', *made]
        heads = heads_of(run.side.head, run.view.weights.shape[1])
        lines += [
            "",
            f"engine_{name} = load({catalogue.card(run.side.model).name!r})",
            *([f"engine_{name} = untrained_engine(engine_{name}, {run.side.seed})"] if run.side.seed else []),
            f"trace_{name} = engine_{name}.trace({', '.join(given)})",
            f"view_{name} = views.view(trace_{name}.attention, merge_words=True, hide_special={sides.hide})",
            f"spelled_{name} = word_alignment.spellings(trace_{name}.attention.query_tokens, view_{name}.query_places)",
            f"weights_{name} = views.mean_of_heads(view_{name}.weights, {heads})  # (layer, head), counted from 0",
        ]
    return [*lines, ""]


def library_maps(title: str, sides: Sides, found: "Comparison") -> str:
    """Write the code that compares both maps without this project."""
    lines = []
    for name, run in zip(NAMES, sides.runs, strict=True):
        lines += ["", f"# {name.upper()}", *weights_lines(_carried(run, sides.hide)), f"weights_{name} = weights"]
    rows = [tuple(row) for row in found.rows]
    return "\n".join(
        [
            f"# {one_line(title)}, with transformers alone.",
            *imports(sides.one.trace, sides.other.trace),
            *lines,
            "",
            f"rows = {rows}  # each word's place in A and in B",
            *DIFFERENCE.strip().splitlines(),
            "",
        ]
    )


def library_word(title: str, sides: Sides, followed: "Followed") -> str:
    """Write the code that follows a word through the layers without this project."""
    from tx_core.analysis.word_alignment import is_word

    lines = []
    for name, run in zip(NAMES, sides.runs, strict=True):
        spelled = ["".join(spelling[1]) if is_word(spelling) else "" for spelling in run.spelled]
        lines += [
            "",
            f"# {name.upper()}",
            *weights_lines(_carried(run, sides.hide), hidden=True),
            f"hidden_{name} = hidden",
            f"words_{name} = {[list(places) for places in run.view.query_places]}  # the tokens of each word",
            f"spelled_{name} = {spelled!r}  # nothing for what is no word",
        ]
    return "\n".join(
        [
            f"# {one_line(title)}, with transformers alone.",
            *imports(sides.one.trace, sides.other.trace),
            *lines,
            "",
            f"CHOSEN = {tuple(followed.places)}  # the word's place in A and in B",
            *COSINES.strip().splitlines(),
            "",
        ]
    )


def _carried(run: Run, hide: bool) -> Carried:
    """Take one side for a map of the attention page, in whole words."""
    heads = tuple(heads_of(run.side.head, run.view.weights.shape[1]))
    options = ViewOptions("self", heads, words=True, hide=hide, show="heatmap", lines=1, scale="blues", focus=None)
    return Carried(run.trace, Shown(run.view, heads, run.weights, ""), options)
