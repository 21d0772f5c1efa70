"""What a stage says by itself in the browser, from assets/stage/texts.json, for what Python says in the same words."""

import json
from typing import Any

from tx_core.settings import ASSETS, host_settings

TEXTS = json.loads((ASSETS / "stage" / "texts.json").read_text("utf-8"))
"""By the part of the stage. A placeholder may have a format, by which Python rounds; the browser rounds by itself."""
AHEAD, CLASS_LEGEND, ALMOST_NONE = TEXTS["ahead"], TEXTS["classLegend"], TEXTS["almostNone"]
MAP, CONTROLS, CHANGES, CHANGED = TEXTS["map"], TEXTS["controls"], TEXTS["changes"], TEXTS["changed"]
EXPORT, CAPTION, NOTES, SAID = TEXTS["export"], TEXTS["caption"], TEXTS["notes"], TEXTS["said"]
MATRICES, TRAINING, PICTURES, ROUTES = TEXTS["matrices"], TEXTS["training"], TEXTS["pictures"], TEXTS["routes"]


def page_texts(entry: str) -> dict[str, Any]:
    """Return what the stage of one page says by itself, which its page tells it."""
    return json.loads((ASSETS / "stage" / entry / "texts.json").read_text("utf-8"))


def stage_texts() -> dict[str, object]:
    """Return the texts as this host's stages say them: a host that allows some site to show frames need not be asked to."""
    allows_frames = host_settings().frame_ancestors != "'self'"
    return TEXTS | {"export": EXPORT | {"noFrames": "" if allows_frames else EXPORT["noFrames"]}}
