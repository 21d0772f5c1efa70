"""A stage of pictures: charts, the controls around them, and what of both is shown when.

A page lists controls and pictures; the browser draws them, looks among what was sent, and reports what must be computed. The same
drawings are the figure, the table and the files of an export.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from pages.ui.shell.address import page_view, value_of, widget_key
from pages.ui.shell.controls import model_title
from pages.ui.shell.fields import Field, StageFields
from pages.ui.stage.background_runs import NO_RUN, OfferedRun
from pages.ui.stage.charts import Drawing
from pages.ui.stage.controls import Conditions, Control, offered_controls, take_settings
from pages.ui.stage.matrices import MatrixSteps, describe_matrices, matrix_drawings
from pages.ui.stage.mount import Reported, mount, origin
from pages.ui.stage.scripts import STAGE_FILES, component
from pages.ui.stage.sources import Source, sentences_read, title_stem
from tx_core.analysis.packing import join

BARS_HEIGHT = 262
"""Pixels that are kept for bars until they are drawn."""


@dataclass(frozen=True)
class Picture:
    """A picture of the stage.

    Attributes:
        sentence: what is seen, below the picture and for a screen reader.
        row: pictures of one row stand side by side, where there is room.
        share: of the width of its row, compared with the others in it.
        cell: how a cell is named, by {row} and {column}; of lines, how a step is named, by {step}.
        details: what more is read of each row of bars, or of each point; of each cell of a matrix, in place of its number.
        chooses: the field that a click on a row, head, point or cell sets.
        picks: the field, of several numbers, that chooses among lines, or among the columns of a listing behind the first.
        choices: what the click sets it to: one for each row, head (layer by layer), point or cell, as links write it.
        varies, variants: a field, and for each of its values what is different then: `sentence`, `choices`, parts of the `chart`.
        link: of a listing, label and address of a link below the sentence, which takes the value of `varies`, if any, along.
    """

    drawing: Drawing | MatrixSteps
    sentence: str = ""
    when: Conditions = field(default_factory=dict)
    row: int = 0
    share: float = 1.0
    cell: str = ""
    details: Sequence[str] = ()
    chooses: str = ""
    choices: Sequence[str] = ()
    varies: str = ""
    variants: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    link: tuple[str, str] | None = None
    picks: str = ""

    @property
    def drawings(self) -> list[Drawing]:
        """What is drawn, one by one."""
        return matrix_drawings(self.drawing.matrices) if isinstance(self.drawing, MatrixSteps) else [self.drawing]


def pictures_stage(
    page: str,
    fields: StageFields,
    controls: Sequence[Control],
    pictures: Sequence[Picture] = (),
    title: str = "",
    source: Source = MappingProxyType({}),
    *,
    notes: Sequence[str] = (),
    architecture: Mapping[str, object] | None = None,
    partial: Conditions = MappingProxyType({}),
    run: OfferedRun = NO_RUN,
) -> None:
    """Draw a stage of pictures; one without any still has its controls, and writes the address.

    Pictures whose `when` asks for a value of a field of `own` that is not set are not sent. Whether a control looks or computes
    follows from its field.

    title: over a projector's picture, and in captions and files. source: what the pictures are of, as `sources.source` names it;
    without a model, its settings alone. notes: further sentences of the caption. architecture: the drawing above the pictures in
    which parts are chosen (`architecture.architecture`). partial: looks of which only some values were sent; where the reader
    chooses another one, the page runs again and finds it in the session. run: what its buttons start and stop.
    """
    written = _written(page, fields.all)
    shown = [picture for picture in pictures if _may_be_shown(picture.when, fields.own, written)]

    def pack(header: Mapping[str, object]) -> bytes:
        told = {
            "title": title,
            "architecture": architecture,
            "caption": [*sentences_read(source), *notes],
            "stem": title_stem(title, source),
            "controls": offered_controls(page, fields.all, controls, fields.looks),
            "partial": {name: list(values) for name, values in partial.items()},
            "training": run.told,
        }
        return pack_pictures({**header, **_view(page, fields, header), **_model_and_text(source), **told}, shown)

    # BERT, written out, begins with a script of its own.
    mount(page, fields, pack, functools.partial(_take, page, fields, run.take), script="pictures", is_empty=not shown)


def _take(page: str, fields: StageFields, more: Callable[[Reported], None], reported: Reported) -> None:
    take_settings(page, fields.own, reported)
    more(reported)


def pictures_beside(
    page: str,
    part: str,
    pictures: Sequence[Picture],
    height: int,
    view: Mapping[str, str] = MappingProxyType({}),
    tells: str = "",
) -> None:
    """Draw pictures below the stage of a page, without controls: they report nothing. height: of those that can be higher.

    view: looks on arrival, as links write them. tells: the look of the page's stage that has the cell which is chosen here.
    """
    header = {
        "page": f"{page} {part}",
        "home": STAGE_FILES.address(),
        "arrival": {"number": page_view(page).arrivals, "restored": False},
        "address": None,
        "view": dict(view),
        "tells": tells,
        "height": height,
        "title": "",
        "model": "",
        "text": "",
        "hidden": [],
    }
    nothing = {"settings": {}, "partial": {}, "controls": []}
    draw = component(f"below_{part}", "pictures", "stage-box", heights=(height, len(pictures) * height))
    draw(key=widget_key(page, part), data=pack_pictures(header | nothing, pictures))


def shown_drawings(page: str, fields: StageFields, pictures: Sequence[Picture]) -> list[Drawing]:
    """Return the drawings that a reader sees now and that have numbers, for a table and for export."""
    written = _written(page, fields.all)
    shown = [picture for picture in pictures if _may_be_shown(picture.when, fields.all, written)]
    drawn = [_picked(one, written[picture.picks]) if picture.picks else one for picture in shown for one in picture.drawings]
    return [drawing for drawing in drawn if drawing.values.size]


def _picked(drawing: Drawing, written: str) -> Drawing:
    """Return a drawing with those of its lines, or of its columns behind the first, that are chosen. written: as 1-4-20."""
    numbers = [int(number) - 1 for number in written.split("-") if number.isdecimal()]
    chart = dict(drawing.chart)
    if chart["kind"] == "lines":
        chosen = [number for number in numbers if number < len(drawing.rows)]
        chart["series"] = [chart["series"][number] for number in chosen]
        return replace(drawing, chart=chart, rows=tuple(drawing.rows[number] for number in chosen), values=drawing.values[chosen])
    chosen = [number for number in numbers if number < len(drawing.columns)]
    chart["head"], *chart["rows"] = ([row[0], *(row[number + 1] for number in chosen)] for row in (chart["head"], *chart["rows"]))
    columns = tuple(drawing.columns[number] for number in chosen)
    return replace(drawing, chart=chart, columns=columns, values=drawing.values[:, chosen])


def pack_pictures(header: Mapping[str, object], pictures: Sequence[Picture]) -> bytes:
    """Pack the message of a stage of pictures: the numbers of drawings behind the header, as 32-bit floats."""
    sent, parts, names = [], [], {}
    for picture in pictures:
        drawing = picture.drawing
        if isinstance(drawing, MatrixSteps):
            told, numbers = describe_matrices(drawing)
            parts += numbers
            sent.append({**vars(picture), "drawing": None, "when": dict(picture.when), "chart": told, "rows": [], "columns": []})
            continue
        chart = dict(drawing.chart)
        if chart["kind"] == "matrix":
            del chart["cells"], chart["rows"], chart["columns"]
        if chart["kind"] == "lines":
            chart["series"] = [{**one, "values": None} for one in chart["series"]]
            del chart["steps"]
        values = np.asarray(drawing.values, "<f4")
        parts.append(values)
        axes = {
            name: names.setdefault(labels, len(names)) for name, labels in (("rows", drawing.rows), ("columns", drawing.columns))
        }
        described = {**vars(picture), "when": dict(picture.when), "variants": dict(picture.variants), "chart": chart} | axes
        sent.append({name: value for name, value in described.items() if name != "drawing" and value not in _NOTHING})
    return join({**header, "pictures": sent, "names": list(names)}, parts)


_NOTHING = ("", (), [], {}, None)
"""What a picture does not say is not sent: the maps of all heads are many pictures."""


def _view(page: str, fields: StageFields, header: Mapping[str, object]) -> dict[str, object]:
    """Return the view and the address of a header, and what is computed, with values as links write them."""
    looks = {field.name: field for field in fields.looks}

    def write(values: Mapping[str, object]) -> dict[str, str]:
        return {name: looks[name].write(value) for name, value in values.items()}

    address = header["address"]
    return {
        "view": write(header["view"]),
        "address": address | {"defaults": write(address["defaults"]), "first": write(address["first"])},
        "settings": _written(page, fields.own),
    }


def _model_and_text(source: Source) -> dict[str, str]:
    model, text, revision = (str(source.get(name, "")) for name in ("model", "text", "revision"))
    return {"model": model_title(model) if model else "", "text": text, "origin": origin(model, revision)}


def _written(page: str, fields: Sequence[Field]) -> dict[str, str]:
    return {field.name: field.write(value_of(page, field.name)) for field in fields}


def _may_be_shown(when: Conditions, fields: Sequence[Field], written: Mapping[str, str]) -> bool:
    names = {field.name for field in fields}
    return all(written[name] in values for name, values in dict(when).items() if name in names)
