"""Activation patching: where a run holds what makes its prediction, found by putting its vectors into another run."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.comparison import align, spell_words
from tx_core.analysis.probabilities import largest, probabilities
from tx_core.causal.cut_effects import read_prediction
from tx_core.engine.engine import Engine
from tx_core.engine.progress import plan_runs, run_seconds, share_of_layers
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.fill_mask.predictions import blank_logits_in_batches
from tx_core.fill_mask.word_scores import spell_word
from tx_core.transformer.interventions import Head, Intervention, Vectors
from tx_core.transformer.trace import Encoding

if TYPE_CHECKING:
    import pandas

LIKELY = 5
"""Entries that are listed of each prediction."""
PatchedPart = Literal["residual", "attention", "mlp", "head", "path"]
"""What is put in: see `patch`."""
SMALLEST_DIFFERENCE = 1e-4
"""In nats: an effect of less would be one of rounding."""
NOT_ONE_TOKEN = "“{answer}” is no single token for this model, and only answers of one token are compared: choose another word."
SAME_ANSWER = "Both answers are “{answer}”: choose two words."
NO_PARTNER = "Nothing is put in at {tokens}: no token of the other text corresponds."


@dataclass(frozen=True)
class Patch:
    """What a prediction becomes when vectors of a source run are put into a target run, one place at a time.

    The cells are layer × token, or layer × head where `what` is "head" or "path". NaN: a token without a partner, and a layer
    to which no path leads.

    Attributes:
        source, target: Both texts, each with the token whose prediction it is as its only blank.
        answers: The vocabulary entries that are compared.
        source_difference, target_difference: The logit of the first answer minus that of the second, in either run.
        difference: The same with each place patched.
        source_probabilities, target_probabilities, probabilities: Of both answers, in the same runs.
        likely, likely_probabilities: The most likely entries with each place patched, best first; -1 and NaN for no cell.
        effect: How far the patch moves the difference from the target's (0) to the source's (1).
        notice: A sentence for the visitor where tokens have no partner.
    """

    source: Encoding
    target: Encoding
    answers: tuple[int, int]
    what: PatchedPart
    source_difference: float
    target_difference: float
    difference: Float[np.ndarray, "layer token_or_head"]
    source_probabilities: Float[np.ndarray, "answer"]
    target_probabilities: Float[np.ndarray, "answer"]
    probabilities: Float[np.ndarray, "layer token_or_head answer"]
    likely: Int[np.ndarray, "layer token_or_head rank"]
    likely_probabilities: Float[np.ndarray, "layer token_or_head rank"]
    notice: str = ""

    @property
    def place(self) -> int:
        """The token of the target whose prediction it is: a blank, or the last token of a model that predicts the next one."""
        return self.target.blanks[0]

    @property
    def effect(self) -> Float[np.ndarray, "layer token_or_head"]:
        return (self.difference - self.target_difference) / (self.source_difference - self.target_difference)

    def __repr__(self) -> str:
        """Return what it holds in a few lines: both texts, the shape of the effect, and where it is greatest."""
        column = "head" if self.what in ("head", "path") else "token"
        lines = [
            f"Patch of {self.what}: {self.source.text!r}",
            f"into {self.target.text!r}",
            f"effect {self.effect.shape}: layer, {column}",
        ]
        if not np.isnan(self.effect).all():
            layer, at = np.unravel_index(np.nanargmax(self.effect), self.effect.shape)
            name = "" if column == "head" else f" {self.target.tokens[at]!r}"
            lines.append(f"at most {self.effect[layer, at]:.3f}: layer {layer}, {column} {at}{name}, from 0")
        return "\n  ".join(lines)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return every cell as a row: layer and token or head (from 0), effect, difference, and both answers' probabilities."""
        import pandas  # here: it takes a tenth of a second, and no page needs it

        column = "head" if self.what in ("head", "path") else "token"
        axes = [axis.ravel() for axis in np.indices(self.effect.shape)]
        table = pandas.DataFrame({"layer": axes[0], column: axes[1], "effect": self.effect.ravel()})
        if column == "token":
            table.insert(2, "target_token", [self.target.tokens[at] for at in table["token"]])
        table["difference"] = self.difference.ravel()
        for number, name in enumerate(("first_answer", "second_answer")):
            table[name] = self.probabilities[..., number].ravel()
        return table


def patch(
    engine: Engine,
    *,
    source: str,
    target: str,
    answers: tuple[str, str],
    what: PatchedPart = "residual",
    blank: int = 0,
    sender: Head | None = None,
) -> Patch:
    """Put what one run computes into another, one place at a time, and measure the answer (Vig et al. 2020).

    With the uncorrupted text as the source and a corrupted one as the target this is denoising, the causal tracing of Meng et
    al. 2022: what suffices to restore the answer. With the two exchanged it is noising: what is necessary for it (Zhang & Nanda
    2024, who recommend the difference of logits as the measure). Texts of equally many tokens with the blank at the same place
    correspond token by token, others by their equal tokens, and what stands between these where it is as long.

    Args:
        source, target: The texts; what the source's run computes is put into the target's.
        answers: Two words, each of one token for the model.
        what: "residual": the vector of a token as it leaves a layer, of the last one before a norm that follows all layers.
            "attention", "mlp": what that sublayer adds to the residual stream at a token. "head": the result of a head, at all
            tokens. "path": the result of a head, of which only the inputs (queries, keys and values) are other: as if the head
            `sender` alone had read the source, all heads between frozen, feed-forward sublayers and norms computed anew (path
            patching, Wang et al. 2023, section 3).
        blank: Which of the blanks of either text; ignored by a model that predicts the next token.
        sender: Of "path", the layer and the head that begin it, from 0.

    Raises TextProblem and ModelUnavailable as `predict` does; also for an answer of several tokens, and for texts that prefer the
    first answer to the second equally; ValueError for a blank or a sender that is not there, or a sender that `what` does not
    take.
    """
    if engine.info.decoder_start is not None:
        raise ModelUnavailable(
            f"{engine.title} predicts with a second stack of layers, of which nothing is put in: choose another model."
        )
    read, run = read_prediction(engine, source, blank), read_prediction(engine, target, blank)
    _check_place(engine, what, sender)
    entries = answer_entries(engine, run, answers)
    if entries[0] == entries[1]:
        raise TextProblem(SAME_ANSWER.format(answer=answers[0]))
    alignment = align_tokens(run, read)
    cells = _cells(engine, run, alignment, what, sender)
    runs = 1 + len(cells)
    plan_runs(runs, run_seconds(engine, len(run), runs * share_of_layers(engine)))  # before the first run, which may take long
    given = source_vectors(engine, run, read)
    if sender is not None:
        given = _through_paths(engine, run, given, sender)
    found = _answer_runs(engine, read, run, [(one,) for one in cells.values()], given, entries)
    if abs(found.difference[0] - found.difference[1]) < SMALLEST_DIFFERENCE:
        raise TextProblem(
            f"Both texts prefer “{answers[0]}” to “{answers[1]}” equally, so there is nothing to trace back: change one of the "
            "texts."
        )
    by_head = what in ("head", "path")
    shown = np.full((engine.info.num_layers, engine.info.num_heads if by_head else len(run)), -1)  # the run of each cell
    if not by_head:
        shown[-1, [partner is not None for partner in alignment]] = (
            1  # in the last layer, only what is at the blank can change it
        )
    for number, cell in enumerate(cells, start=2):
        shown[cell] = number
    missing = ", ".join(f"“{run.tokens[at]}” ({at + 1})" for at, partner in enumerate(alignment) if partner is None)
    return Patch(
        read,
        run,
        entries,
        what,
        float(found.difference[0]),
        float(found.difference[1]),
        found.difference[shown],
        found.shares[0],
        found.shares[1],
        found.shares[shown],
        found.likely[shown],
        found.likely_shares[shown],
        NO_PARTNER.format(tokens=missing) if missing else "",
    )


def patch_runs(engine: Engine, tokens: int, what: PatchedPart) -> tuple[int, float]:
    """Return how often a map of a text runs the model, at most, and how many seconds that may take."""
    layers, heads = engine.info.num_layers, engine.info.num_heads
    runs = {"head": layers * heads, "path": (2 * layers - 1) * heads}.get(what, (layers - 1) * tokens + 1)
    return runs, run_seconds(engine, tokens, runs * share_of_layers(engine))


def _check_place(engine: Engine, what: str, sender: Head | None) -> None:
    """Raise ValueError for a part that is none, and for a sender that is not there or that the part does not take."""
    if what not in get_args(PatchedPart):
        raise ValueError(f"what must be one of {', '.join(get_args(PatchedPart))}, got {what}")
    if (sender is not None) != (what == "path"):
        raise ValueError(f'sender must be of "path", got {sender} for {what}')
    if sender and (sender[0] not in range(engine.info.num_layers - 1) or sender[1] not in range(engine.info.num_heads)):
        raise ValueError(f"sender must be a layer below the last and a head of it, from 0, got {sender}")


class _Answers(NamedTuple):
    """What each run makes of the answers: the source, the target, and it with each place patched; last, no run: NaN and -1."""

    difference: Float[np.ndarray, "run"]
    shares: Float[np.ndarray, "run answer"]
    likely: Int[np.ndarray, "run rank"]
    likely_shares: Float[np.ndarray, "run rank"]


def _answer_runs(
    engine: Engine,
    source: Encoding,
    target: Encoding,
    changes: Sequence[tuple[Intervention]],
    given: Vectors,
    entries: Sequence[int],
) -> _Answers:
    """Run the source, the target, and the target with each change."""
    batches = blank_logits_in_batches(engine, [target] * (1 + len(changes)), [(), *changes], {"patch": given})
    parts = []
    for answered in chain([engine.blank_logits([source])], batches):
        logits = np.concatenate(answered)
        found = probabilities(logits)
        best = largest(found, LIKELY)
        difference = logits[:, entries[0]].astype(float) - logits[:, entries[1]]
        parts.append((difference, found[:, entries], best, np.take_along_axis(found, best, axis=-1)))
    runs = [np.concatenate(part) for part in zip(*parts, strict=True)]
    ended = [np.concatenate([one, np.full_like(one[:1], -1 if one.dtype.kind == "i" else np.nan)]) for one in runs]
    return _Answers(*ended)


def align_tokens(target: Encoding, source: Encoding) -> tuple[int | None, ...]:
    """Return for each token of the target the token of the source that corresponds to it, None where none does: see `patch`."""
    if (len(target), target.blanks) == (len(source), source.blanks):
        return tuple(range(len(target)))
    spelled = [spell_words(one, [(place,) for place in range(len(one))]) for one in (target, source)]
    partners: list[int | None] = [None] * len(target)
    here = there = -1
    for mine, yours in (*align(*spelled), (len(target), len(source))):
        if mine - here == yours - there:
            partners[here + 1 : mine] = range(there + 1, yours)
        if mine < len(target):
            partners[mine] = yours
        here, there = mine, yours
    return tuple(partners)


def source_vectors(engine: Engine, target: Encoding, source: Encoding) -> Vectors:
    """Return what a run of the source computes, token by token of the target, for the intervention "patch"; NaN without partner.

    Raises ModelUnavailable where the layers of a model cannot be located.
    """
    alignment, found = align_tokens(target, source), engine.vectors(source)
    places = [0 if partner is None else partner for partner in alignment]
    missing = [partner is None for partner in alignment]

    def aligned(part: np.ndarray) -> np.ndarray:
        taken = part[..., places, :]
        taken[..., missing, :] = np.nan
        return taken

    return Vectors(aligned(found.context), aligned(found.mlp), aligned(found.residual))


def answer_entries(engine: Engine, target: Encoding, answers: Sequence[str]) -> tuple[int, ...]:
    """Return the vocabulary entries of answers at a blank; raise TextProblem unless each is one token."""
    place, found = target.blanks[0], []
    opens = not engine.info.predicts_next and target.starts_sentence(place)
    for answer in answers:
        pieces = spell_word(engine.tokenizer, answer, opens) if answer.strip() else ()
        if len(pieces) != 1 or engine.tokenizer.unknown_id in pieces:
            raise TextProblem(NOT_ONE_TOKEN.format(answer=answer))
        found += pieces
    return tuple(found)


def _cells(
    engine: Engine, target: Encoding, alignment: Sequence[int | None], what: PatchedPart, sender: Head | None
) -> dict[tuple[int, int], Intervention]:
    """Return the intervention of each cell that can change the answer."""
    count, place = engine.info.num_layers, target.blanks[0]
    if what in ("head", "path"):
        first = 0 if sender is None else sender[0] + 1
        heads = [(layer, head) for layer in range(first, count) for head in range(engine.info.num_heads)]
        return {cell: Intervention("patch", *cell) for cell in heads}
    return {
        (layer, at): Intervention("patch", layer, positions=(at,), part=what)
        for layer in range(count)
        for at, partner in enumerate(alignment)
        if partner is not None and (layer < count - 1 or at == place)
    }


def _through_paths(engine: Engine, target: Encoding, source: Vectors, sender: Head) -> Vectors:
    """Return the results of all heads after a sender, as they read what it alone changes: all between are the target's own."""
    layer, head = sender
    own = engine.vectors(target)
    frozen, received = own.context.copy(), np.full_like(own.context, np.nan)
    read = source.context[layer, head]
    frozen[layer, head] = np.where(np.isnan(read), frozen[layer, head], read)
    given = {"patch": Vectors(frozen, own.mlp, own.residual)}
    for receiver in range(layer + 1, engine.info.num_layers):
        changes = [Intervention("patch", one) for one in range(layer, receiver)]
        received[receiver] = engine.vectors(target, interventions=changes, vectors=given).context[receiver]
    return Vectors(received, own.mlp, own.residual)
