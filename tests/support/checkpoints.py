"""Tiny checkpoints with random weights, written by transformers itself in the hub's own layout.

Every family gets the kind of vocabulary that it is known for, learned from a few sentences here.
Sizes differ on every axis, so that a swapped one is noticed.
"""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = (
    "Time flies like an arrow; fruit flies like a banana.",
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Where does each head look when it reads a sentence?",
    "She poured the tea because he was late and it was getting cold.",
    "Attention is all you need to understand unbelievable translations.",
)
MAX_WHOLE_WORD = 7
"""Characters of the longest word that is a piece of its own, its mark ▁ included."""
LAYERS, HEADS, HEAD_DIM, INTERMEDIATE, POSITIONS = 3, 4, 6, 40, 48
HIDDEN = HEADS * HEAD_DIM
SIZES = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": INTERMEDIATE,
    "max_position_embeddings": POSITIONS,
}
BERT_MARKS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_MARKS = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
GPT2_MARKS = {"eos": "<|endoftext|>"}
T5_MARKS = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
ALBERT_MARKS = {"pad": "<pad>", "unk": "<unk>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def word_pieces(marks: dict[str, str]) -> tokenizers.Tokenizer:
    """A WordPiece vocabulary as BERT, DistilBERT and ELECTRA have it."""
    backend = tokenizers.Tokenizer(models.WordPiece(unk_token=marks["unk"]))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=150, special_tokens=[*marks.values()], show_progress=False)
    backend.train_from_iterator(SENTENCES, trainer)
    single = f"{marks['cls']} $A {marks['sep']}"
    return _framed(backend, single, f"{single} $B:1 {marks['sep']}:1")


def byte_level(marks: dict[str, str]) -> tokenizers.Tokenizer:
    """A byte-level vocabulary as RoBERTa, BART (<s> … </s>) and GPT-2 (nothing around) have it."""
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=[*marks.values()],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    backend.train_from_iterator(SENTENCES, trainer)
    _let_blank_swallow_space(backend, marks)
    if "bos" in marks:
        backend.post_processor = processors.RobertaProcessing(
            (marks["eos"], backend.token_to_id(marks["eos"])),
            (marks["bos"], backend.token_to_id(marks["bos"])),
            add_prefix_space=False,
        )
    else:
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
    return backend


def sentence_pieces(marks: dict[str, str], single: str, pair: str) -> tokenizers.Tokenizer:
    """A Unigram vocabulary that writes a space as ▁, as ALBERT, T5 and XLM-RoBERTa have it.

    It is put together by hand: the library's trainer gives another one at every call, and so other figures.
    """
    words = Counter(f"▁{word}" for sentence in SENTENCES for word in sentence.split())
    whole = [word for word, _ in sorted(words.items(), key=lambda one: (-one[1], one[0])) if len(word) <= MAX_WHOLE_WORD]
    letters = sorted(set("".join(words)))
    pieces = [*whole, *letters]
    vocabulary = [(mark, 0.0) for mark in marks.values()]
    vocabulary += [(piece, -1.0 - place / len(pieces) - 3 * (piece in letters)) for place, piece in enumerate(pieces)]
    backend = tokenizers.Tokenizer(models.Unigram(vocabulary, unk_id=list(marks).index("unk")))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    _let_blank_swallow_space(backend, marks)
    return _framed(backend, single, pair)


def _let_blank_swallow_space(backend: tokenizers.Tokenizer, marks: dict[str, str]) -> None:
    if "mask" in marks:
        backend.add_special_tokens([tokenizers.AddedToken(marks["mask"], lstrip=True, special=True)])


def _framed(backend: tokenizers.Tokenizer, single: str, pair: str) -> tokenizers.Tokenizer:
    names = {piece.split(":")[0] for piece in f"{single} {pair}".split() if not piece.startswith("$")}
    backend.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, backend.token_to_id(name)) for name in sorted(names)]
    )
    return backend


@torch.no_grad()
def write(directory: Path, model: torch.nn.Module, backend: tokenizers.Tokenizer, marks: dict[str, str], seed: int) -> Path:
    """Write the checkpoint, every weight, norm and bias random enough that a mistake would show."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.copy_(1 + 0.2 * noise if "norm" in name.lower() and name.endswith("weight") else 0.25 * noise)
    model.save_pretrained(directory)
    named = {f"{role}_token": mark for role, mark in marks.items()}
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **named).save_pretrained(directory)
    return directory


class Family(NamedTuple):
    """How the library calls a family's classes, and what a tiny checkpoint of it is made of."""

    name: str
    head: str
    vocabulary: Callable[[dict[str, str]], tokenizers.Tokenizer]
    marks: dict[str, str]
    settings: dict[str, object]


MARKS_OF_BART = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
SMALL_ROBERTA = SIZES | MARKS_OF_BART | {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
"""Positions start behind the padding's id, and there are no segments."""
SMALL_BART = {"d_model": HIDDEN, "encoder_layers": 2, "decoder_layers": LAYERS, "max_position_embeddings": POSITIONS}
SMALL_BART |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), HEADS)
SMALL_BART |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), INTERMEDIATE)
SMALL_DISTILBERT = {"dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INTERMEDIATE}
ONE_MARK = {"bos_token_id": 0, "eos_token_id": 0}
NO_PADDING = ONE_MARK | {"pad_token_id": None}
SMALL_GPT2 = {"n_positions": POSITIONS, "n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_inner": INTERMEDIATE}
SMALL_T5 = {"d_model": 20, "d_kv": HEAD_DIM, "d_ff": INTERMEDIATE, "num_layers": 2, "num_decoder_layers": LAYERS}
SMALL_T5 |= {"num_heads": HEADS, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 16}
STARTS_WITH_PADDING = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
ALBERT_PIECES = partial(sentence_pieces, single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")
ROBERTA_PIECES = partial(sentence_pieces, single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>")
T5_PIECES = partial(sentence_pieces, single="$A </s>", pair="$A </s> $B </s>")
FAMILIES = {
    "bert": Family("Bert", "ForMaskedLM", word_pieces, BERT_MARKS, SIZES),
    "roberta": Family("Roberta", "ForMaskedLM", byte_level, ROBERTA_MARKS, SMALL_ROBERTA),
    "camembert": Family("Camembert", "ForMaskedLM", ROBERTA_PIECES, ROBERTA_MARKS, SMALL_ROBERTA),
    "distilbert": Family(
        "DistilBert", "ForMaskedLM", word_pieces, BERT_MARKS, SMALL_DISTILBERT | {"max_position_embeddings": POSITIONS}
    ),
    # All layers share their parameters; embeddings are narrower than the rest.
    "albert": Family("Albert", "ForMaskedLM", ALBERT_PIECES, ALBERT_MARKS, {"embedding_size": 10} | SIZES),
    "electra": Family("Electra", "ForMaskedLM", word_pieces, BERT_MARKS, {"embedding_size": 10} | SIZES),
    # Causal, with nothing around the text.
    "gpt2": Family("GPT2", "LMHeadModel", byte_level, GPT2_MARKS, SMALL_GPT2 | ONE_MARK),
    # Rotary positions, and two heads of queries share one of keys and values.
    "starcoder2": Family(
        *("Starcoder2", "ForCausalLM", byte_level, GPT2_MARKS),
        SIZES | NO_PADDING | {"num_key_value_heads": 2},
    ),
    # Relative positions; as in all encoder-decoders here, more layers in the decoder than in the encoder.
    "t5": Family("T5", "ForConditionalGeneration", T5_PIECES, T5_MARKS, SMALL_T5 | STARTS_WITH_PADDING),
    "bart": Family(
        *("Bart", "ForConditionalGeneration", byte_level, ROBERTA_MARKS),
        MARKS_OF_BART | {"decoder_start_token_id": 2, "forced_eos_token_id": 2} | SMALL_BART,
    ),
    # The tables of its sinusoidal positions are not in its files.
    "marian": Family("Marian", "MTModel", T5_PIECES, T5_MARKS, SMALL_BART | STARTS_WITH_PADDING | {"forced_eos_token_id": 1}),
    # Rotary positions; two layers in three see a few neighbours only.
    "modernbert": Family(
        *("ModernBert", "ForMaskedLM", byte_level, ROBERTA_MARKS),
        SIZES | MARKS_OF_BART | {"local_attention": 4, "global_attn_every_n_layers": 3, "cls_token_id": 0, "sep_token_id": 2},
    ),
}


def write_family(family: str, directory: Path, seed: int = 0, *, head: str = "", **settings) -> Path:
    """Write a checkpoint of one of FAMILIES. head: of another class, as in "Model"; settings: override the config's."""
    made = FAMILIES[family]
    backend = made.vocabulary(made.marks)
    config = getattr(transformers, f"{made.name}Config")(vocab_size=backend.get_vocab_size(), **made.settings | settings)
    return write(directory, getattr(transformers, f"{made.name}{head or made.head}")(config), backend, made.marks, seed)


def write_bert(directory: Path, *, seed: int = 0, with_head: bool = True, **sizes) -> Path:
    """Write a BERT; sizes override the config's, by their names there (num_hidden_layers, …)."""
    return write_family("bert", directory, seed, head="" if with_head else "Model", **sizes)


def write_decoder(directory: Path, name: str, seed: int = 0, *, kind: str = "Model", **settings) -> Path:
    """Write a decoder-only model, without a head by default, of any family, by its name in the library's classes."""
    backend = byte_level(GPT2_MARKS)
    config = getattr(transformers, f"{name}Config")(vocab_size=backend.get_vocab_size(), **SIZES | NO_PADDING | settings)
    return write(directory, getattr(transformers, f"{name}{kind}")(config), backend, GPT2_MARKS, seed)


def change_config(directory: Path, **settings) -> None:
    """Change settings of a checkpoint."""
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), encoding="utf-8")


def change_tensors(directory: Path, change: Callable[[str, torch.Tensor], torch.Tensor]) -> None:
    """Change the tensors of a checkpoint, each by a function of its name and itself."""
    file = directory / "model.safetensors"
    changed = {name: change(name, tensor).contiguous() for name, tensor in load_file(file).items()}
    save_file(changed, file, metadata={"format": "pt"})
