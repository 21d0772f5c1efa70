"""A stage of pictures: charts that exist as `drawings.Drawing`, the controls around them, and what of both is shown when.

A page lists controls and pictures; the browser draws them, looks among what was sent, and reports what must be computed. The same
drawings are the figure, the table and the files of an export.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import streamlit as st

from pages.ui.canvas.drawings import Drawing
from pages.ui.export import texts as export_texts
from pages.ui.export.records import Source, title_stem
from pages.ui.shell.address import Field, widget_key
from pages.ui.shell.controls import model_title
from pages.ui.stage.address import StageFields
from pages.ui.stage.controls import Conditions, Control, offered_controls, take_settings
from pages.ui.stage.mount import draw_beside, mount, origin
from pages.ui.stage.packing import join
from pages.ui.stage.scripts import STAGE_FILES

PICTURES_STAGE = "pictures"


@dataclass(frozen=True)
class Picture:
    """A picture of the stage.

    Attributes:
        drawing: what is drawn, exported and listed.
        sentence: what is seen, below the picture and for a screen reader.
        when: where it is shown.
        row: pictures of one row stand side by side, where there is room.
        share: of the width of its row, compared with the others in it.
        cell: how a cell is named, by {row} and {column}; of lines, how a step is named, by {step}.
        details: what more is read of each row of bars, or of each point.
        chooses: the field that a click on a row, head, point or cell sets.
        choices: what the click sets it to: one for each row, head (layer by layer), point or cell, as links write it.
        varies, variants: a field, and for each of its values what is different then: `sentence`, `choices`, parts of the `chart`.
        link: label and address of a link below the sentence, which takes the value of `varies` along.
    """

    drawing: Drawing
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


@dataclass(frozen=True)
class About:
    """What the pictures are of, for the title over a projector's picture, captions and files.

    Attributes:
        title: in one line.
        source: as `records.source` names it; without a model, its settings alone.
        notes: further sentences of the caption.
    """

    title: str
    source: Source
    notes: Sequence[str] = ()


def pictures_stage(
    page: str,
    fields: StageFields,
    controls: Sequence[Control],
    pictures: Sequence[Picture],
    about: About,
    partial: Conditions = MappingProxyType({}),
) -> None:
    """Draw a stage of pictures. Pictures whose `when` asks for a value of a field of `own` that is not set are not sent.

    Whether a control looks or computes follows from its field. partial: looks of which only some values were sent; where the
    reader chooses another one, the page runs again and finds it in the session.
    """
    written, looks = _written(page, fields.all), {field.name for field in fields.looks}
    shown = [picture for picture in pictures if _may_be_shown(picture.when, fields.own, written)]
    declared = [replace(control, looks=control.name in looks) for control in controls]

    def pack(header: Mapping[str, object]) -> bytes:
        offered = offered_controls(page, fields.all, declared)
        sent = {name: list(values) for name, values in partial.items()}
        return pack_pictures({**header, **_about(page, fields, about, header), "controls": offered, "partial": sent}, shown)

    names = {*(control.name for control in controls), *(picture.chooses for picture in pictures)}
    computed = [field for field in fields.own if field.name in names]
    mount(page, PICTURES_STAGE, fields, pack, lambda reported: take_settings(page, computed, reported))


def pictures_beside(page: str, part: str, pictures: Sequence[Picture], height: int) -> None:
    """Draw pictures below the stage of a page, without controls and without an address. height: of those that can be higher."""
    header = {
        "page": f"{page} {part}",
        "home": STAGE_FILES.address(),
        "arrival": {"number": 0, "restored": False},
        "address": None,
        "height": height,
        "title": "",
        "model": "",
        "text": "",
        "hidden": [],
    }
    nothing = {"view": {}, "settings": {}, "partial": {}, "controls": []}
    draw_beside(page, PICTURES_STAGE, part, pack_pictures(header | nothing, pictures), (height, len(pictures) * height))


def empty_pictures(page: str, fields: StageFields, controls: Sequence[Control] = ()) -> None:
    """Draw a stage without pictures, for what cannot be shown: its controls stay, and it still writes the address."""
    pictures_stage(page, fields, controls, (), About("", {}))


def shown_drawings(page: str, fields: StageFields, pictures: Sequence[Picture]) -> list[Drawing]:
    """Return the drawings that a reader sees now and that have numbers, for a table and for export."""
    written = _written(page, fields.all)
    return [one.drawing for one in pictures if one.drawing.values.size and _may_be_shown(one.when, fields.all, written)]


def pack_pictures(header: Mapping[str, object], pictures: Sequence[Picture]) -> bytes:
    """Pack the message of a stage of pictures: the numbers of drawings behind the header, as 32-bit floats."""
    sent, parts, names = [], [], {}
    for picture in pictures:
        drawing = picture.drawing
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


def _about(page: str, fields: StageFields, about: About, header: Mapping[str, object]) -> dict[str, object]:
    """Return what the stage is told beside its pictures; values are written as links write them."""
    looks = {field.name: field for field in fields.looks}

    def write(values: Mapping[str, object]) -> dict[str, str]:
        return {name: looks[name].write(value) for name, value in values.items()}

    address, model = header["address"], str(about.source.get("model", ""))
    return {
        "view": write(header["view"]),
        "address": address | {"defaults": write(address["defaults"]), "first": write(address["first"])},
        "settings": _written(page, fields.own),
        "title": about.title,
        "model": model_title(model) if model else "",
        "text": str(about.source.get("text", "")),
        "caption": [*_sentences(about.source), *about.notes],
        "stem": title_stem(about.title, about.source),
        "origin": origin(model, str(about.source.get("revision", ""))),
    }


def _sentences(source: Source) -> list[str]:
    """Return what a caption says of the texts that were read."""
    named = (("text", export_texts.TEXT), ("pair", export_texts.SECOND_SENTENCE))
    read = [template.format(sentence=export_texts.quoted(str(source[name]))) for name, template in named if name in source]
    is_bare = source.get("special_tokens") == export_texts.NONE_ADDED
    return [*read, *([export_texts.WITHOUT_SPECIAL] if is_bare else [])]


def _written(page: str, fields: Sequence[Field]) -> dict[str, str]:
    return {field.name: field.write(st.session_state[widget_key(page, field.name)]) for field in fields}


def _may_be_shown(when: Conditions, fields: Sequence[Field], written: Mapping[str, str]) -> bool:
    names = {field.name for field in fields}
    return all(written[name] in values for name, values in dict(when).items() if name in names)
