"""Fill several blanks jointly: a beam search that conditions each word on the words before it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import fill_blanks, widen_blank
from tx_core.fill_mask.predictions import blank_logits_in_batches, encode_with_blanks
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding

MAX_BEAMS = 32


@dataclass(frozen=True)
class JointFilling:
    """One way to fill all blanks.

    Attributes:
        ids: The vocabulary entries, one per blank.
        pieces: As the vocabulary spells them.
        words: As a reader does.
        steps: The probability of each entry given the entries before it, with later blanks still masked.
        probability: The product of `steps`.
        sentence: The filled text.
        notice: A sentence for the visitor where it was not computed on the model's own device.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    words: tuple[str, ...]
    steps: tuple[float, ...]
    probability: float
    sentence: str
    notice: str = ""


@dataclass(frozen=True)
class _Beam:
    row: Encoding
    ids: tuple[int, ...] = ()
    logs: tuple[float, ...] = ()
    notice: str = ""


def fill_jointly(
    engine: Engine, text: str, *, best: int = 5, beams: int = 8, interventions: Sequence[Intervention] = ()
) -> tuple[JointFilling, ...]:
    """List the best joint fillings of all blanks, best first.

    Blanks are filled from left to right, and the model runs again with each word in place; the score is the product of the
    probabilities on the way. A masked language model defines no joint probability: another order may give another product
    (Ghazvininejad et al. 2019 discuss orders). Only the `beams` most probable beginnings are followed, so with few beams the best
    filling can be missed. Each blank takes one batch of at most `beams` rows.

    Raises what `fill_mask.predict` raises, and ChangeProblem for interventions on what the text does not have.
    """
    if not 1 <= best <= beams <= MAX_BEAMS:
        raise ValueError(f"best and beams must be 1 ≤ best ≤ beams ≤ {MAX_BEAMS}, got {best} and {beams}")
    start = encode_with_blanks(engine, text)
    followed = [_Beam(start)]
    for place in start.blanks:
        followed = _extend(engine, followed, place, beams, interventions)
    return tuple(_finish(engine, text, beam) for beam in followed[:best])


def _extend(engine: Engine, followed: list[_Beam], place: int, beams: int, interventions: Sequence[Intervention]) -> list[_Beam]:
    """Extend all beams by one blank and keep the best."""
    asked = [replace(beam.row, blanks=(place,)) for beam in followed]
    logs, notice = [], ""
    for answered in blank_logits_in_batches(engine, asked, [interventions] * len(asked)):
        logs += [logits[0].double().log_softmax(-1) for logits in answered.rows]
        notice = notice or answered.notice
    logs = torch.stack(logs)
    totals = logs + torch.tensor([[sum(beam.logs)] for beam in followed], dtype=logs.dtype)
    top = totals.flatten().topk(min(beams, totals.numel())).indices.tolist()
    extended = []
    for beam, entry in (divmod(index, logs.shape[1]) for index in top):
        parent = followed[beam]
        row = widen_blank(parent.row, engine.tokenizer, place, (entry,))
        steps = (*parent.logs, logs[beam, entry].item())
        extended.append(_Beam(row, (*parent.ids, entry), steps, parent.notice or notice))
    return extended


def _finish(engine: Engine, text: str, beam: _Beam) -> JointFilling:
    steps = torch.tensor(beam.logs, dtype=torch.float64)
    return JointFilling(
        ids=beam.ids,
        pieces=tuple(engine.tokenizer.word(entry) for entry in beam.ids),
        words=tuple(engine.tokenizer.readable(entry) for entry in beam.ids),
        steps=tuple(steps.exp().tolist()),
        probability=steps.sum().exp().item(),
        sentence=fill_blanks(text, engine.tokenizer, dict(enumerate(beam.ids))),
        notice=beam.notice,
    )
