"""Tiny checkpoints with random weights, written by transformers itself in the hub's own layout.

Every family gets the kind of vocabulary that it is known for, learned from a few sentences here.
Sizes differ on every axis, so that a swapped one is noticed.
"""

from collections.abc import Callable
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = (
    "Time flies like an arrow; fruit flies like a banana.",
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Where does each head look when it reads a sentence?",
    "She poured the tea because he was late and it was getting cold.",
    "Attention is all you need to understand unbelievable translations.",
)
LAYERS, HEADS, HEAD_DIM, INTERMEDIATE, POSITIONS = 3, 4, 6, 40, 48
HIDDEN = HEADS * HEAD_DIM
SIZES = {
    "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
    "intermediate_size": INTERMEDIATE, "max_position_embeddings": POSITIONS,
}  # fmt: skip
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
        vocab_size=320, special_tokens=[*marks.values()], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    backend.train_from_iterator(SENTENCES, trainer)
    if "mask" in marks:  # RoBERTa's blank swallows the space before it
        backend.add_special_tokens([tokenizers.AddedToken(marks["mask"], lstrip=True, special=True)])
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
    """A Unigram vocabulary that writes a space as ▁, as ALBERT, T5 and XLM-RoBERTa have it."""
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=130, special_tokens=[*marks.values()], unk_token=marks["unk"], show_progress=False
    )
    backend.train_from_iterator(SENTENCES, trainer)
    return _framed(backend, single, pair)


def _framed(backend: tokenizers.Tokenizer, single: str, pair: str) -> tokenizers.Tokenizer:
    names = {piece.split(":")[0] for piece in f"{single} {pair}".split() if not piece.startswith("$")}
    backend.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, backend.token_to_id(name)) for name in sorted(names)]
    )
    return backend


@torch.no_grad()
def write(
    directory: Path, model: torch.nn.Module, backend: tokenizers.Tokenizer, marks: dict[str, str], seed: int
) -> Path:
    """Write the checkpoint, every weight, norm and bias random enough that a mistake would show."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.copy_(1 + 0.2 * noise if "norm" in name.lower() and name.endswith("weight") else 0.25 * noise)
    model.save_pretrained(directory)
    named = {f"{role}_token": mark for role, mark in marks.items()}
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **named).save_pretrained(directory)
    return directory


def write_bert(directory: Path, *, seed: int = 0, with_head: bool = True, **sizes) -> Path:
    """Write a BERT; sizes override the config's, by their names there (num_hidden_layers, …)."""
    backend = word_pieces(BERT_MARKS)
    config = transformers.BertConfig(vocab_size=backend.get_vocab_size(), **SIZES | sizes)
    model = transformers.BertForMaskedLM(config) if with_head else transformers.BertModel(config)
    return write(directory, model, backend, BERT_MARKS, seed)


WRITERS: dict[str, Callable[..., Path]] = {"bert": write_bert}
