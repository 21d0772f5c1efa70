"""Build the inputs of a transformers model, and of its decoder if it has one.

The decoder input of an encoder-decoder is the second sentence, shifted right behind the model's start
token (teacher forcing). Without a second sentence, a model that fills blanks (BART) gets the first
sentence again, which is how it fills them, and any other model (T5) gets its start token alone.
"""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from tx_core.engine.engine import ModelInfo
from tx_core.engine.tensors import batch_tensors
from tx_core.engine.tokenizer import Tokenizer
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding, plain_encoding

START_ONLY = "The decoder's input is only its start token. Enter a second sentence to see how the decoder would write it."


def inputs(
    rows: Sequence[Encoding],
    targets: Sequence[Encoding] | None,
    info: ModelInfo,
    padding_id: int,
    device: str,
    interventions: Sequence[Sequence[Intervention]] = (),
) -> dict[str, Tensor | bool]:
    """Build the keyword arguments of a model's call.

    Args:
        rows: The texts of the batch.
        targets: The decoder input for each row, None to give no decoder input.
        info: The description of the model.
        padding_id: The id that fills shorter rows.
        device: The device of the tensors.
        interventions: Those of each row, for the padding that they add; empty for none.
    """
    ids, segments, mask = batch_tensors(rows, padding_id, device, interventions)
    arguments: dict[str, Tensor | bool] = {"input_ids": ids, "use_cache": False}
    if mask is not None:
        arguments["attention_mask"] = mask[:, 0, 0].long()
    if info.num_segments > 1:
        arguments["token_type_ids"] = segments
    if targets is not None:  # padding at the end needs no mask, since decoder attention is causal
        arguments["decoder_input_ids"] = batch_tensors(targets, padding_id, device)[0]
    return arguments


def target_of(source: Encoding, info: ModelInfo, tokenizer: Tokenizer) -> Encoding | None:
    """Return the decoder input for a text, or None for a model without a decoder."""
    if info.decoder_start is None:
        return None
    if source.pair is not None:
        return shift_right(tokenizer.encode(source.pair), info.decoder_start, tokenizer)
    if info.fills_blanks:
        return shift_right(source, info.decoder_start, tokenizer)
    return plain_encoding([tokenizer.word(info.decoder_start)], [info.decoder_start], [True])


def shift_right(sentence: Encoding, start: int, tokenizer: Tokenizer) -> Encoding:
    """Shift a sentence right by one token, behind the start token: what the decoder has read when it predicts each token."""
    last = len(sentence) - 1
    return replace(
        sentence,
        pair=None,
        ids=(start, *sentence.ids[:-1]),
        tokens=(tokenizer.word(start), *sentence.tokens[:-1]),
        segments=(0, *sentence.segments[:-1]),
        special=(True, *sentence.special[:-1]),
        words=(None, *sentence.words[:-1]),
        blanks=tuple(position + 1 for position in sentence.blanks if position < last),
        unknown=tuple(position + 1 for position in sentence.unknown if position < last),
    )


def axes(source: Encoding, target: Encoding | None) -> dict[AttentionKind, tuple[Encoding | None, Encoding | None]]:
    """Return the query tokens and the key tokens of each kind of attention."""
    return {"self": (source, source), "decoder": (target, target), "cross": (target, source)}
