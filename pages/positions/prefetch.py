"""What the controls around the map of a way of telling positions lead to."""

from collections.abc import Mapping
from dataclasses import replace

from pages.positions import drawings
from pages.positions.drawings import Choice
from pages.positions.encodings import WAYS
from pages.ui.canvas.prefetch import Picture, Prefetch, read_number, read_option
from pages.ui.shell import cache
from tx_core.engine import catalogue
from tx_core.lessons import position_encodings


def prefetch(page: str, values: Mapping[str, object], choice: Choice, lengths: range, widths: range) -> Prefetch:
    """Foresee the map of another way, length or width, as far as that takes no other model than the built-in one.

    values: what the page holds by the names of its fields. choice: the same, as it is drawn now.
    """
    engine = cache.engine(catalogue.DEFAULT)
    usual = replace(choice, engine=engine)  # what is offered must not keep a large model in memory

    def draw(asked: Mapping[str, object]) -> Picture:
        learned = asked["scheme"] == "learned"
        if learned and asked["model"] != catalogue.DEFAULT:
            raise LookupError("another model may have to be fetched")
        width = engine.model.config.hidden_size if learned else asked["width"]
        head = min(asked["head"], engine.num_heads if learned else position_encodings.BIAS_HEADS)
        sizes = {"length": asked["length"], "width": width, "base": float(asked["base"]), "head": head - 1}
        return drawings.map_of(replace(usual, scheme=asked["scheme"], **sizes)).drawn()

    controls = {
        "scheme": read_option("scheme", list(WAYS)),
        "length": read_number("length", lengths),
        "width": read_number("width", widths),
    }
    return Prefetch(page, values, controls, draw)
