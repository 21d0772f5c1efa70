"""The map of the page, layers × tokens or layers × heads, and beside it the prediction with the part put in that is chosen."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.patching import texts
from pages.patching.inputs import CONTROLS, PAGE, PatchInputs, ask_sender
from pages.ui.export.computation import call, computed, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.numbers import percent, signed
from pages.ui.stage.charts import LINE_COLOURS, Drawing, bars_drawing, bars_end, matrix_drawing, numbered_once
from pages.ui.stage.inputs import check_pair
from pages.ui.stage.long_runs import check_seconds
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import escape_markdown, note_how_read
from pages.ui.stage.view_options import head_in_sentence, heads_to_link, token_to_link
from tx_core.causal.patch import Patch, patch, patch_runs
from tx_core.engine.engine import Engine, head_missing, no_head
from tx_core.engine.tokenizer import BLANK
from tx_core.errors import TextProblem, memory_checked
from tx_core.fill_mask.next_words import next_words
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.interventions import Head

OTHERS = 3
"""Words beside the answers that are shown of a prediction."""
TALLEST_ROW = 56
"""Pixels of a row of the map."""
LEAST_EFFECT, NAMED = 0.25, 3
"""What a cell must move for the sentence on the whole map; how many cells it names where they are not followed upwards."""
COLOURS = {"target": "#8793a0", "patched": LINE_COLOURS[0], "source": LINE_COLOURS[2]}
Cell = tuple[int, int]
"""Layer, and token or head, from 0."""


def patch_part(inputs: PatchInputs, engine: Engine) -> Part:
    """Compute the map that is asked for; raise ExplorerError where the sentences do not allow it.

    Attention opens where A's blank looks: in the head that moves the answer most, where heads are put in.
    """
    check_texts(inputs, engine)
    controls, sender = CONTROLS, None
    with memory_checked():
        answers = answers_of(inputs, engine)
        asked = {"source": inputs.text, "target": inputs.text_b, "answers": answers}
        loaded = engine_call(inputs)
        _check_seconds(inputs, engine)
        if inputs.what == "path":
            heads: Patch = computed(call(patch, loaded, **asked, what="head"), engine)
            lower = heads.effect[: max(1, len(heads.effect) // 2)]
            sender, control = ask_sender(heads.effect.shape, strongest(lower))
            controls, asked["sender"] = [*CONTROLS, control], sender
        grid = named("grid", call(patch, loaded, **asked, what=inputs.what))
        view = GridView(computed(grid, engine), engine, sender)
    _show_notices(view.grid, engine, inputs)
    note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    title = texts.EXPORT_TITLE.format(part=texts.PARTS[inputs.what], answer=answers[0], other=answers[1])
    about = inputs.about(text=texts.BOTH.format(one=inputs.text, other=inputs.text_b))
    numbers = PartNumbers(title, about, [named("effect", grid.effect).round(3)])
    return Part(
        view.pictures(),
        numbers,
        [texts.SHOWS[view.axis]],
        formulas=[texts.FORMULA],
        sources=[patch],
        controls=controls,
        views={"attention": view.look() | inputs.in_link()},
    )


def _show_notices(grid: Patch, engine: Engine, inputs: PatchInputs) -> None:
    """Show which tokens have no partner, and which blanks are not followed."""
    several = engine.info.fills_blanks and any(len(engine.encode(text).blanks) > 1 for text in (inputs.text, inputs.text_b))
    for notice in filter(None, (grid.notice, texts.FIRST_BLANK if several else "")):
        st.caption(f":material/info: {escape_markdown(notice)}")


def check_texts(inputs: PatchInputs, engine: Engine) -> None:
    """Raise TextProblem for sentences between which nothing can be followed, or that are too long, and ModelUnavailable for a
    model without an answer.
    """
    if not engine.info.has_head:
        raise head_missing(engine.title, texts.NO_ANSWER)
    if not (engine.info.fills_blanks or engine.info.predicts_next):
        raise no_head(engine.title)
    if inputs.text == inputs.text_b:
        raise TextProblem(texts.SAME_SENTENCES)
    if not engine.info.fills_blanks and any(BLANK.search(text) for text in (inputs.text, inputs.text_b)):
        raise TextProblem(texts.WRITES_ON)
    check_pair(inputs.text_b)


def _check_seconds(inputs: PatchInputs, engine: Engine) -> None:
    """Raise TakesLong where the map may take long and was not asked for in spite of that."""
    tokens = len(engine.encode(inputs.text_b))
    runs, seconds = patch_runs(engine, tokens, inputs.what)
    check_seconds(PAGE, inputs, engine, tokens, runs, seconds, power=1 if inputs.what in ("head", "path") else 2)


def answers_of(inputs: PatchInputs, engine: Engine) -> tuple[str, str]:
    """Return the answers that are compared: as they are typed, else the most likely word of each sentence."""
    sides = (inputs.text, inputs.answer.strip()), (inputs.text_b, inputs.answer_b.strip())
    one, other = (typed or cache.call(_most_likely, engine, text) for text, typed in sides)
    if one == other:
        raise TextProblem(texts.SAME_ANSWER.format(word=one))
    return one, other


def _most_likely(engine: Engine, text: str) -> str:
    words = next_words(engine, text) if engine.info.predicts_next else predict(engine, text).blanks[0].predictions
    return words[0].word


def strongest(effect: Float[np.ndarray, "layer column"]) -> Cell:
    """Return the cell that moves the answer most."""
    layer, column = np.unravel_index(np.nan_to_num(np.abs(effect)).argmax(), effect.shape)
    return int(layer), int(column)


@dataclass(frozen=True)
class GridView:
    """A map that has been computed, and what is said of it. sender: the head at which paths begin."""

    grid: Patch
    engine: Engine
    sender: Head | None

    @property
    def has_heads(self) -> bool:
        """Whether its columns are heads."""
        return self.grid.what in ("head", "path")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of B; those that are the same are numbered."""
        return numbered_once(self.grid.target.tokens)

    @property
    def axis(self) -> str:
        """What its columns are: a key of `texts.AXES`."""
        return "heads" if self.has_heads else "tokens"

    def pictures(self) -> list[Picture]:
        """Draw the map, upwards from the first layer, and the prediction for each of its cells."""
        layers, columns = self.grid.effect.shape
        look = "head" if self.has_heads else "cell"
        names = [str(number + 1) for number in range(columns)] if self.has_heads else self.grid.target.tokens
        rows = [str(layer + 1) for layer in reversed(range(layers))]
        cells = {f"{layer + 1}-{column + 1}": (layer, column) for layer in reversed(range(layers)) for column in range(columns)}
        first = self._first()
        drawing = matrix_drawing(texts.TITLE, "signed", self.grid.effect[::-1], rows, names, axes=texts.AXES[self.axis])
        looks = {"sentenceFirst": True, "forgets": {"cell": "", "head": ""}, "tallestRow": TALLEST_ROW}
        drawing.chart.update(looks, chosen=[layers - 1 - first[0], first[1]])
        base = self._rows(first)
        shown = {
            name: {"sentence": self.describe(cell), "chart": _differing(base, self._rows(cell))} for name, cell in cells.items()
        }
        return [
            Picture(
                drawing,
                self.summary(),
                share=2,
                cell=texts.CELL[self.axis],
                details=[self.read(cell) for cell in cells.values()],
                chooses=look,
                choices=list(cells),
            ),
            Picture(self.bars(first), self.describe(first), varies=look, variants=shown),
        ]

    def _first(self) -> Cell:
        """Return the cell that is shown until one is chosen: the strongest; of tokens, of those that are not asked for."""
        effect = self.grid.effect.copy()
        if not self.has_heads:
            effect[:, self.grid.place] = 0.0
        return strongest(effect)

    def look(self) -> dict[str, str]:
        """Return where A's answer looks, as parameters of Attention."""
        heads = {"heads": heads_to_link([strongest(self.grid.effect)])} if self.has_heads else {}
        return heads | {"focus": token_to_link(self.grid.source.blanks[0])}

    def summary(self) -> str:
        """Return what the whole map shows: where A's answer lies, layer by layer, or which cells alone move it most."""
        effect = np.nan_to_num(self.grid.effect)
        if self.grid.what == "residual":
            return texts.WAY.format(steps="; ".join(self._way(effect)))
        order = np.abs(effect).argsort(axis=None)[::-1][:NAMED]
        cells = [(int(layer), int(column)) for layer, column in zip(*np.unravel_index(order, effect.shape), strict=True)]
        strong = [cell for cell in cells if abs(effect[cell]) >= LEAST_EFFECT]
        named = [texts.STRONGEST_CELL.format(place=self._place(cell), effect=self._effect(cell)) for cell in strong]
        return texts.STRONGEST.format(cells="; ".join(named)) if named else texts.NONE_MOVES

    def _way(self, effect: Float[np.ndarray, "layer token"]) -> Iterator[str]:
        """Yield the token that moves the answer most, for each run of layers in which it is the same."""
        best = [int(row.argmax()) if row.max() >= LEAST_EFFECT else None for row in effect]
        for token, layers in groupby(range(len(best)), key=best.__getitem__):
            numbers = [layer + 1 for layer in layers]
            template = texts.STEP_LAST if numbers[-1] == len(best) else texts.STEP_RANGE if len(numbers) > 1 else texts.STEP
            yield template.format(token=self._token(token), first=numbers[0], last=numbers[-1])

    def _token(self, token: int | None) -> str:
        """Return the name of a token within a sentence; None for no token."""
        if token is None:
            return texts.NO_TOKEN
        is_blank = token == self.grid.place and self.engine.info.fills_blanks
        return texts.THE_BLANK if is_blank else texts.QUOTED.format(token=self.tokens[token])

    def describe(self, cell: Cell) -> str:
        """Return a cell in words: what is put in, and how far the prediction moves."""
        place = self._place(cell)
        if np.isnan(self.grid.effect[cell]):
            return f"{place}: {self._missing}."
        part = texts.IN_WORDS[self.grid.what].format(sender=head_in_sentence(self.sender) if self.sender else "")
        return texts.SAID.format(place=place, part=part, moves=self._moves(cell), effect=self._effect(cell))

    def _place(self, cell: Cell) -> str:
        """Return the name of a cell."""
        layer, column = cell
        return head_name(cell) if self.has_heads else texts.TOKEN.format(layer=layer + 1, token=self.tokens[column])

    def read(self, cell: Cell) -> str:
        """Return what is read of a cell beside its name."""
        if np.isnan(self.grid.effect[cell]):
            return self._missing
        return texts.READ.format(moves=self._moves(cell), effect=self._effect(cell))

    @property
    def _missing(self) -> str:
        return texts.NO_PATH.format(sender=head_in_sentence(self.sender)) if self.sender else texts.NO_PARTNER

    @cached_property
    def answers(self) -> list[str]:
        """The answers as a reader spells them."""
        return [self.engine.tokenizer.readable(entry) for entry in self.grid.answers]

    @cached_property
    def limit(self) -> float:
        """Where the bars of all cells end."""
        grid = self.grid
        return bars_end(
            max(grid.source_probabilities.max(), grid.target_probabilities.max(), np.nanmax(grid.likely_probabilities))
        )

    def _effect(self, cell: Cell) -> str:
        return signed(self.grid.effect[cell])

    def _moves(self, cell: Cell) -> str:
        """Return what becomes of A's answer in words."""
        before, after = float(self.grid.target_probabilities[0]), float(self.grid.probabilities[cell][0])
        one, other = percent(before), percent(after)
        template = texts.STAYS if one == other else texts.RISES if after > before else texts.FALLS
        return template.format(answer=self.answers[0], before=one, after=other)

    def bars(self, cell: Cell) -> Drawing:
        """Draw both answers in B's run, with the part put in, and in A's run; and what else is then likely."""
        title = texts.BARS_NEXT if self.engine.info.predicts_next else texts.BARS
        labels, shares = self._shares(cell)
        drawing = bars_drawing(title.format(token=self.grid.target.tokens[self.grid.place]), labels, shares, limit=self.limit)
        colours = [*COLOURS.values()] * len(self.answers) + [COLOURS["patched"]] * OTHERS
        drawing.chart.update(sentenceFirst=True, colours=colours)
        return drawing

    def _shares(self, cell: Cell) -> tuple[list[str], list[float]]:
        """Return the label and the share of each bar."""
        grid, is_missing = self.grid, np.isnan(self.grid.effect[cell])
        patched = grid.target_probabilities if is_missing else grid.probabilities[cell]
        runs = {"target": grid.target_probabilities, "patched": patched, "source": grid.source_probabilities}
        rows = [(run, word, float(shares[at])) for at, word in enumerate(self.answers) for run, shares in runs.items()]
        rows += [] if is_missing else [("patched", word, share) for word, share in self._others(cell)]
        return [texts.IN_RUNS[run].format(word=word) for run, word, _ in rows], [share for *_, share in rows]

    def _rows(self, cell: Cell) -> dict[str, list]:
        """Return what of the bars is different for a cell; shares are rounded, since there are many."""
        labels, shares = self._shares(cell)
        return {"labels": labels, "values": [round(share, 6) for share in shares], "ends": list(map(percent, shares))}

    def _others(self, cell: Cell) -> list[tuple[str, float]]:
        found = zip(self.grid.likely[cell].tolist(), self.grid.likely_probabilities[cell].tolist(), strict=True)
        others = [(self.engine.tokenizer.readable(entry), share) for entry, share in found if entry not in self.grid.answers]
        return others[:OTHERS]


def _differing(first: dict[str, list], rows: dict[str, list]) -> dict[str, object]:
    """Return which rows of a cell's bars differ from the first ones, and how; None for the same label."""
    if len(rows["labels"]) != len(first["labels"]):
        return rows
    at = [row for row in range(len(rows["labels"])) if any(first[name][row] != part[row] for name, part in rows.items())]
    differing = {name: [part[row] for row in at] for name, part in rows.items()}
    return differing | {
        "at": at,
        "labels": [None if first["labels"][row] == rows["labels"][row] else rows["labels"][row] for row in at],
    }
