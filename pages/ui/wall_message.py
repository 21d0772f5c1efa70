"""What a wall of heads is sent: its picture and the choice, or the very bytes of the last time where it shows that already.

Streamlit sends equal bytes once only, and from then on a word that stands for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import UInt8

from pages.ui.attention_bytes import pack
from pages.ui.told import told


@dataclass(frozen=True)
class SentWall:
    """What a wall was sent last, and what it had told by then. number: tells one message from the next."""

    number: int
    picture: bytes
    chosen: Sequence[tuple[int, int]]
    told: object
    message: bytes


def wall_message(
    key: str,
    header: Mapping[str, object],
    cells: UInt8[np.ndarray, "layer head row column"],
    chosen: Sequence[tuple[int, int]],
    clicked: Sequence[tuple[int, int]],
) -> bytes:
    """Pack what the wall `key` is to show; `clicked` is what its reader chose on it last.

    A wall that is sent the same again shows what was clicked since: wall.js takes a choice from a new message only.
    """
    kept, told_now, picture = f"{key}_sent", told(key, "chosen"), pack(header, cells)
    last: SentWall | None = st.session_state.get(kept)
    still_drawn = key in st.session_state  # else it is drawn from the beginning, and knows of no click
    if last and still_drawn and last.picture == picture and chosen == (last.chosen if told_now == last.told else clicked):
        return last.message
    number = last.number + 1 if last else 0
    message = pack({**header, "chosen": [list(head) for head in chosen], "sent": number}, cells)
    st.session_state[kept] = SentWall(number, picture, chosen, told_now, message)
    return message
