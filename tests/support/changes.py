"""The names of changes, as chips and captions give them."""

from pages.ui.panels import texts


def name_in_head(kind: str, layer: int, head: int, **values: object) -> str:
    """The name of a change of one head, counted from 1."""
    return texts.CHANGE_IN_PLACE[kind].format(place=texts.CHANGE_PLACES["head"].format(layer=layer, head=head), **values)


def name_in_layer(kind: str, layer: int, **values: object) -> str:
    """The name of a change of one layer, counted from 1."""
    return texts.CHANGE_IN_PLACE[kind].format(place=texts.CHANGE_PLACES["layer"].format(layer=layer), **values)


def token_name(token: str, position: int) -> str:
    """The name of a token, counted from 1."""
    return texts.CHANGED_TOKEN.format(token=token, position=position)


def name_everywhere(kind: str, **values: object) -> str:
    """The name of a change of all layers."""
    return texts.CHANGE_EVERYWHERE[kind].format(**values)
