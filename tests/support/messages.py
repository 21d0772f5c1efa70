"""Sentences of the shell, and the names of changes, as a test expects them on a page."""

from pages.ui.shell import texts
from pages.ui.stage.texts import CHANGE_EVERYWHERE, CHANGE_IN_PLACE, CHANGE_PLACES

TOO_LONG_TO_SHARE = texts.LINK_TOO_LONG_TO_SHARE.partition("{")[0]
"""How the message about a link that is too long begins."""

UNKNOWN = texts.UNKNOWN_PARAMETERS.partition("{")[0]
"""How the message about a link with nonsense begins."""


def unknown_parameters(*names: str) -> str:
    """The message about these parameters of a link."""
    return texts.UNKNOWN_PARAMETERS.format(names=", ".join(names))


def name_in_head(kind: str, layer: int, head: int, **values: object) -> str:
    """The name of a change of one head, counted from 1."""
    return CHANGE_IN_PLACE[kind].format(place=CHANGE_PLACES["head"].format(layer=layer, head=head), **values)


def name_everywhere(kind: str, **values: object) -> str:
    """The name of a change of all layers."""
    return CHANGE_EVERYWHERE[kind].format(**values)
