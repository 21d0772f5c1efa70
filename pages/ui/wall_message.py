"""What a wall of heads is sent: its picture and the choice, or the very bytes of the last time where it shows that already.

Streamlit sends equal bytes once only, and from then on a word that stands for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import streamlit as st
from jaxtyping import UInt8

from pages.ui.attention_bytes import pack
from pages.ui.told import told_at


@dataclass(frozen=True)
class SentWall:
    """What a wall was sent last. picture: its hash. heard: when its reader had made the last choice that the page knew of."""

    picture: bytes
    chosen: Sequence[tuple[int, int]]
    heard: object
    message: bytes


def wall_message(
    key: str,
    header: Mapping[str, object],
    cells: UInt8[np.ndarray, "layer head row column"],
    chosen: Sequence[tuple[int, int]],
    clicked: Sequence[tuple[int, int]],
) -> bytes:
    """Pack what the wall `key` is to show; `clicked` is what its reader chose on it last.

    wall.js keeps to what was clicked on it until a message comes that was packed after the page had heard of that.
    """
    kept, heard, picture = f"{key}_sent", told_at(key, "chosen"), sha256(pack(header, cells)).digest()
    last: SentWall | None = st.session_state.get(kept)
    still_drawn = key in st.session_state  # else it is drawn from the beginning, and shows no click
    if last and still_drawn and last.picture == picture and chosen == (last.chosen if heard == last.heard else clicked):
        return last.message
    message = pack({**header, "chosen": [list(head) for head in chosen], "heard": heard}, cells)
    st.session_state[kept] = SentWall(picture, chosen, heard, message)
    return message
