"""What goes into a model of the transformers library, and what its decoder reads where it has one.

What the decoder of an encoder-decoder reads is the second sentence, behind the model's start token,
as while it writes that sentence. Without a second sentence, a model that fills blanks (BART) reads
its first sentence again, which is how it fills them; any other (T5) reads its start token alone.
"""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from tx_core.engine.engine import batch_tensors
from tx_core.engine.model_info import ModelInfo
from tx_core.engine.tokenizer import Tokenizer
from tx_core.transformer.attention import AttentionKind
from tx_core.transformer.trace import Encoding, plain_encoding

START_ONLY = "The decoder has only its start token to read: give a second sentence to see how it would write that."


def inputs(
    rows: Sequence[Encoding], targets: Sequence[Encoding] | None, info: ModelInfo, padding_id: int, device: str
) -> dict[str, Tensor | bool]:
    """Give the model's call what it reads. targets: what the decoder reads of each row, None for no decoder."""
    ids, segments, mask = batch_tensors(rows, padding_id, device)
    given: dict[str, Tensor | bool] = {"input_ids": ids, "use_cache": False}
    if mask is not None:
        given["attention_mask"] = mask[:, 0, 0].long()
    if info.num_segments > 1:
        given["token_type_ids"] = segments
    if targets is not None:  # padding at their ends needs no mask: a decoder only looks back
        given["decoder_input_ids"] = batch_tensors(targets, padding_id, device)[0]
    return given


def target_of(source: Encoding, info: ModelInfo, tokenizer: Tokenizer) -> Encoding | None:
    """Give what the decoder reads, or None where there is no decoder."""
    if info.decoder_start is None:
        return None
    if source.pair is not None:
        return while_writing(tokenizer.encode(source.pair), info.decoder_start, tokenizer)
    if info.fills_blanks:
        return while_writing(source, info.decoder_start, tokenizer)
    return plain_encoding([tokenizer.word(info.decoder_start)], [info.decoder_start], [True])


def while_writing(sentence: Encoding, start: int, tokenizer: Tokenizer) -> Encoding:
    """Give what the decoder has read when it writes each token of the sentence: the start, and all before."""
    last = len(sentence) - 1
    return replace(
        sentence,
        pair=None,
        ids=(start, *sentence.ids[:-1]),
        tokens=(tokenizer.word(start), *sentence.tokens[:-1]),
        segments=(0, *sentence.segments[:-1]),
        special=(True, *sentence.special[:-1]),
        words=(None, *sentence.words[:-1]),
        blanks=tuple(place + 1 for place in sentence.blanks if place < last),
        unknown=tuple(place + 1 for place in sentence.unknown if place < last),
    )


def axes(source: Encoding, target: Encoding | None) -> dict[AttentionKind, tuple[Encoding | None, Encoding | None]]:
    """Say what looks and what is looked at in each kind of attention."""
    return {"self": (source, source), "decoder": (target, target), "cross": (target, source)}
