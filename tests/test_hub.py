"""Every family runs through our own attention and computes what the transformers library computes by its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests import checkpoints
from tx_core import hub
from tx_core.attention import attend
from tx_core.engine import Engine
from tx_core.errors import CheckpointProblem, ModelUnavailable, TextProblem
from tx_core.hub_engine import START_ONLY, HubEngine
from tx_core.interventions import Interventions
from tx_core.recorder import mask_and_bias
from tx_core.trace import PARTS, Trace

FAMILIES = ["roberta", "xlm-roberta", "distilbert", "albert", "electra", "modernbert", "gpt2", "t5", "bart"]
ONE_STACK = FAMILIES[:7]
TWO_SIDED = ["t5", "bart"]
FILLING = [family for family in FAMILIES if family not in ("gpt2", "t5")]
TEXT, PAIR = "Time flies like an arrow", "fruit flies"


@pytest.fixture(scope="session")
def engine(checkpoint):
    """An engine of each family, loaded once."""
    loaded: dict[str, HubEngine] = {}

    def of_family(family: str) -> HubEngine:
        if family not in loaded:
            loaded[family] = hub.load_engine(checkpoint(family), family, family.title())
        return loaded[family]

    return of_family


@pytest.fixture(scope="session")
def reference(checkpoint):
    """The same checkpoint as the library runs it by itself, with its own eager attention."""
    loaded: dict[str, transformers.PreTrainedModel] = {}

    def of_family(family: str) -> transformers.PreTrainedModel:
        if family not in loaded:
            kind = transformers.AutoModelForMaskedLM if family in FILLING else transformers.AutoModel
            model = kind.from_pretrained(checkpoint(family), attn_implementation="eager")
            loaded[family] = model.eval()
        return loaded[family]

    return of_family


@torch.inference_mode()
def by_the_library(model: transformers.PreTrainedModel, trace: Trace):
    """Run the library's model on the very tokens that a trace was made of."""
    source = trace.attention.query_tokens
    inputs = {"input_ids": torch.tensor([source.ids])}
    if getattr(model.config, "type_vocab_size", 0) == 2:
        inputs["token_type_ids"] = torch.tensor([source.segments])
    if len(trace.stacks) > 1:
        inputs["decoder_input_ids"] = torch.tensor([trace.stacks[1].query_tokens.ids])
    return model(**inputs, output_attentions=True, output_hidden_states=True)


def stacked(layers: Sequence[torch.Tensor]) -> np.ndarray:
    return torch.cat(list(layers)).numpy()


@pytest.mark.parametrize("family", ONE_STACK)
def test_weights_and_vectors_of_every_layer_are_the_librarys(engine, reference, family: str):
    trace = engine(family).trace(TEXT, PAIR, keep=("weights", "hidden"))
    expected = by_the_library(reference(family), trace)
    assert len(expected.attentions) == checkpoints.LAYERS
    np.testing.assert_allclose(trace.attention.weights, stacked(expected.attentions), atol=1e-6, rtol=0)
    np.testing.assert_allclose(trace.hidden, stacked(expected.hidden_states), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", TWO_SIDED)
@pytest.mark.parametrize("pair", [PAIR, None])
def test_encoder_decoder_and_cross_attention_are_the_librarys(engine, reference, family: str, pair: str | None):
    trace = engine(family).trace(TEXT, pair, keep=("weights", "hidden"))
    expected = by_the_library(reference(family), trace)
    assert [stack.kind for stack in trace.stacks] == ["self", "decoder", "cross"]
    theirs = (expected.encoder_attentions, expected.decoder_attentions, expected.cross_attentions)
    for stack, attentions in zip(trace.stacks, theirs, strict=True):
        assert stack.weights.shape[2:] == (len(stack.query_tokens), len(stack.key_tokens))
        np.testing.assert_allclose(stack.weights, stacked(attentions), atol=1e-6, rtol=0)
    np.testing.assert_allclose(trace.hidden, stacked(expected.encoder_hidden_states), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", FILLING)
def test_blanks_are_scored_as_the_library_scores_them(engine, reference, family: str):
    encoding = engine(family).encode("Time ___ like an ___ arrow")
    ids = torch.tensor([encoding.ids])
    with torch.inference_mode():
        expected = reference(family)(input_ids=ids).logits[0, list(encoding.blanks)]
    assert len(encoding.blanks) == 2
    torch.testing.assert_close(engine(family).blank_logits([encoding])[0], expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_of_a_layer_are_those_of_one_computation(engine, family: str):
    for stack in engine(family).trace(TEXT, PAIR, keep=PARTS).stacks:
        np.testing.assert_allclose(stack.context, stack.weights @ stack.value, atol=1e-5)
        allowed = np.where(stack.weights > 0, stack.scores, -np.inf)
        shares = np.exp(allowed - allowed.max(-1, keepdims=True))
        np.testing.assert_allclose(stack.weights, shares / shares.sum(-1, keepdims=True), atol=1e-6)
        if family != "t5":  # T5 adds a bias by distance and does not scale
            scores = stack.query @ stack.key.swapaxes(-1, -2) / np.sqrt(checkpoints.HEAD_DIM)
            np.testing.assert_allclose(stack.scores, scores, atol=1e-4)


def test_t5_scores_hold_its_bias_by_distance_and_no_scale(engine, reference):
    stack = engine("t5").trace(TEXT, keep=("query", "key", "scores")).attention
    bias = stack.scores - stack.query @ stack.key.swapaxes(-1, -2)
    table = reference("t5").encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    np.testing.assert_allclose(bias[:, :, 0, 0], table[0].detach().numpy()[None].repeat(2, 0), atol=1e-5)
    np.testing.assert_allclose(bias[:, :, 1, 1], bias[:, :, 0, 0], atol=1e-5)


OUTPUT_PROJECTION = {
    "roberta": "roberta.encoder.layer.1.attention.output.dense",
    "xlm-roberta": "roberta.encoder.layer.1.attention.output.dense",
    "distilbert": "distilbert.transformer.layer.1.attention.out_lin",
    "electra": "electra.encoder.layer.1.attention.output.dense",
    "modernbert": "model.layers.1.attn.Wo",
    "gpt2": "h.1.attn.c_proj",
    "t5": "encoder.block.1.layer.0.SelfAttention.o",
    "bart": "model.encoder.layers.1.self_attn.out_proj",
}


@pytest.mark.parametrize("family", OUTPUT_PROJECTION)
def test_a_head_off_is_its_slice_zeroed_before_the_output_projection(engine, reference, family: str):
    head, width = 2, checkpoints.HEAD_DIM
    trace = engine(family).trace(TEXT, PAIR, keep=PARTS, interventions=Interventions(frozenset({(1, head)})))

    def without_head(module, inputs):
        kept = inputs[0].clone()
        kept[..., head * width : (head + 1) * width] = 0
        return (kept,)

    hook = reference(family).get_submodule(OUTPUT_PROJECTION[family]).register_forward_pre_hook(without_head)
    try:
        expected = by_the_library(reference(family), trace)
    finally:
        hook.remove()
    hidden = expected.encoder_hidden_states if family in TWO_SIDED else expected.hidden_states
    np.testing.assert_allclose(trace.hidden, stacked(hidden), atol=1e-6, rtol=1e-6)
    assert not np.allclose(trace.hidden, engine(family).trace(TEXT, PAIR, keep=("hidden",)).hidden, atol=1e-3)
    assert not trace.attention.weights[1, head].any()
    assert trace.attention.weights[1, head - 1].any()


def test_a_head_off_in_one_layer_of_albert_leaves_it_on_where_the_same_module_runs_again(engine):
    off = Interventions(frozenset({(1, 2)}))
    weights = engine("albert").trace(TEXT, interventions=off).attention.weights
    assert [bool(weights[layer, 2].any()) for layer in range(checkpoints.LAYERS)] == [True, False, True]


@pytest.mark.parametrize("family", TWO_SIDED)
def test_layers_of_an_encoder_decoder_are_numbered_through_its_stacks(engine, family: str):
    encoder, decoder, cross = (0, 0), (2, 1), (2 + checkpoints.LAYERS, 3)
    off = Interventions(frozenset({encoder, decoder, cross}))
    for stack, head in zip(engine(family).trace(TEXT, PAIR, interventions=off).stacks, (0, 1, 3), strict=True):
        silent = {(layer, at) for layer, at in np.ndindex(stack.weights.shape[:2]) if not stack.weights[layer, at].any()}
        assert silent == {(0, head)}


@pytest.mark.parametrize("family", FILLING)
def test_rows_of_a_padded_batch_score_their_blanks_as_they_do_alone(engine, family: str):
    rows = [engine(family).encode("Time ___."), engine(family).encode("the ___ sleeps, and the quick brown ___ jumps")]
    off = Interventions(frozenset({(0, 1)}))
    together = engine(family).blank_logits(rows, interventions=off)
    for row, logits in zip(rows, together, strict=True):
        alone = engine(family).blank_logits([row], interventions=off)[0]
        assert logits.shape[0] == len(row.blanks) > 0
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(alone, engine(family).blank_logits([row])[0], atol=1e-3)


@pytest.mark.parametrize("family", ["roberta", "albert", "bart"])
def test_visitors_at_once_with_different_sentences_and_interventions_get_what_each_gets_alone(engine, family: str):
    asks = [(f"{'the dog ' * (1 + number % 4)}and a fox", PAIR, frozenset({(number % 2, number % 4)})) for number in range(8)]

    def run(ask) -> Trace:
        return engine(family).trace(*ask[:2], keep=("weights", "hidden"), interventions=Interventions(ask[2]))

    alone = [run(ask) for ask in asks]
    with ThreadPoolExecutor(8) as visitors:
        together = list(visitors.map(run, asks * 4))
    for number, trace in enumerate(together):
        expected = alone[number % len(asks)]
        np.testing.assert_allclose(trace.hidden, expected.hidden, atol=1e-6, rtol=1e-6)
        for stack, one in zip(trace.stacks, expected.stacks, strict=True):
            np.testing.assert_allclose(stack.weights, one.weights, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_an_engine_of_the_checkpoints_sizes(engine, family: str):
    ours = engine(family)
    assert isinstance(ours, Engine)
    assert (ours.num_layers, ours.num_heads) == (2 if family in TWO_SIDED else checkpoints.LAYERS, checkpoints.HEADS)
    assert ours.fills_blanks == (family in FILLING)
    assert ours.max_tokens == (hub.TOKENS_WITHOUT_LIMIT if family == "t5" else checkpoints.POSITIONS)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "t5"])
def test_exactly_as_many_tokens_are_read_as_there_are_positions(engine, family: str):
    ours = engine(family)
    word = ours.tokenizer.word(ours.tokenizer.pieces(".")[-1])
    text = "." * (ours.max_tokens - len(ours.encode(word)) + 1)
    trace = ours.trace(text)
    assert trace.attention.weights.shape[-1] == ours.max_tokens
    with pytest.raises(TextProblem, match="shorten it by 1 "):
        ours.trace(text + ".")


def test_what_a_decoder_reads_is_the_second_sentence_behind_the_start_token(engine):
    for family, start in (("t5", "<pad>"), ("bart", "</s>")):
        stack = engine(family).trace(TEXT, PAIR).stacks[1]
        alone = engine(family).encode(PAIR)
        assert stack.query_tokens.tokens == (start, *alone.tokens[:-1])
        assert stack.query_tokens.special[0]
        assert stack.query_tokens.word_texts == ("fruit", "flies")
        assert engine(family).trace(TEXT, PAIR).notice == ""


def test_without_a_second_sentence_t5_reads_its_start_token_alone_and_says_so(engine):
    trace = engine("t5").trace(TEXT)
    assert (trace.stacks[1].query_tokens.tokens, trace.notice) == (("<pad>",), START_ONLY)


def test_without_a_second_sentence_bart_reads_its_sentence_again_as_it_does_to_fill_a_blank(engine):
    trace = engine("bart").trace("Time ___ like an arrow")
    source, target = trace.stacks[2].key_tokens, trace.stacks[2].query_tokens
    assert target.ids == (2, *source.ids[:-1])
    assert [target.tokens[place] for place in target.blanks] == ["<mask>"]


@pytest.mark.parametrize("pair", ["the dog " * 40, " \ud800"])
def test_a_second_sentence_that_cannot_be_read_is_refused_by_an_encoder_decoder_too(engine, pair: str):
    with pytest.raises(TextProblem):
        engine("bart").encode(TEXT, pair)


def test_gpt2_looks_only_back_and_its_end_of_text_is_a_mark_not_an_unknown_word(engine):
    attention = engine("gpt2").trace("the dog<|endoftext|>the fox").attention
    assert not np.triu(attention.weights, 1).any()
    read = attention.query_tokens
    assert [token for token, special in zip(read.tokens, read.special, strict=True) if special] == ["<|endoftext|>"]
    assert read.unknown == ()


def test_sentence_pieces_belong_to_the_words_that_were_typed(engine):
    read = engine("xlm-roberta").encode("Time flies, unbelievable ___")
    assert read.word_texts == ("Time", "flies,", "unbelievable", "<mask>")
    assert not any("▁" in token for token in read.tokens)


def test_a_space_that_is_a_piece_of_its_own_is_a_word_that_can_be_seen(engine):
    assert engine("xlm-roberta").encode("the  dog").word_texts == ("the", "␣", "dog")


def test_an_additive_mask_is_told_apart_into_what_it_forbids_and_what_it_weighs():
    smallest = torch.finfo(torch.float32).min
    mask, bias = mask_and_bias(torch.tensor([[0.0, -0.5, smallest], [0.0, 0.0, -torch.inf]]))
    assert mask.tolist() == [[True, True, False], [True, True, False]]
    assert bias.tolist() == [[0.0, -0.5, 0.0], [0.0, 0.0, 0.0]]
    assert mask_and_bias(torch.tensor([[0.0, smallest]]))[1] is None
    assert mask_and_bias(None) == (None, None)


def test_heads_that_share_keys_and_values_are_run_as_the_library_runs_them(tmp_path: Path):
    backend = checkpoints.byte_level(checkpoints.GPT2_MARKS)
    config = transformers.LlamaConfig(
        vocab_size=backend.get_vocab_size(), num_key_value_heads=2, bos_token_id=0, eos_token_id=0, **checkpoints.SIZES
    )
    checkpoints.write(tmp_path, transformers.LlamaModel(config), backend, checkpoints.GPT2_MARKS, seed=5)
    trace = hub.load_engine(tmp_path, "llama", "Llama").trace(TEXT)
    model = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    np.testing.assert_allclose(trace.attention.weights, stacked(by_the_library(model, trace).attentions), atol=1e-6)


def test_a_head_that_the_checkpoint_lacks_is_no_head(tmp_path: Path):
    ours = hub.load_engine(checkpoints.write_electra(tmp_path, discriminator=True), "electra", "ELECTRA")
    assert not ours.fills_blanks
    assert ours.trace(TEXT, PAIR).attention.weights.shape[:2] == (checkpoints.LAYERS, checkpoints.HEADS)
    with pytest.raises(ValueError, match="no masked-word head"):
        ours.blank_logits([ours.encode("a ___")])


@pytest.fixture
def copied(checkpoint, tmp_path: Path):
    """A copy of a family's checkpoint that a test may damage."""
    return lambda family: Path(shutil.copytree(checkpoint(family), tmp_path / family))


def change_config(directory: Path, **settings) -> None:
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), encoding="utf-8")


def test_a_pickle_is_never_opened(copied):
    directory = copied("roberta")
    (directory / "model.safetensors").unlink()
    torch.save({}, directory / "pytorch_model.bin")
    with pytest.raises(CheckpointProblem, match="only safetensors"):
        hub.load_engine(directory, "x", "x")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
def test_truncated_weights_are_a_clear_error(copied, share: float):
    weights = copied("distilbert") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: int(share * weights.stat().st_size)])
    with pytest.raises(CheckpointProblem, match="download"):
        hub.load_engine(weights.parent, "x", "x")


@pytest.mark.parametrize("settings", [{"hidden_size": 40}, {"num_hidden_layers": 5}, {"num_attention_heads": 7}])
def test_weights_of_other_sizes_than_the_settings_are_a_clear_error(copied, settings: dict):
    directory = copied("roberta")
    change_config(directory, **settings)
    with pytest.raises(CheckpointProblem, match="do not fit|lacks"):
        hub.load_engine(directory, "x", "x")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", ["", "{", "[1]", '{"model_type": "roberta", "vocab_size": "many"}'])
def test_a_damaged_settings_file_is_a_clear_error(copied, name: str, content: str):
    directory = copied("roberta")
    (directory / name).write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointProblem):
        hub.load_engine(directory, "x", "x")


def test_an_unknown_architecture_is_named_and_its_code_is_not_run(copied):
    directory = copied("roberta")
    change_config(directory, model_type="my-own", auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
    (directory / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="'my-own'.*never run"):
        hub.load_engine(directory, "x", "x")


def test_code_that_comes_with_a_known_architecture_is_not_run(copied):
    directory = copied("roberta")
    change_config(directory, auto_map={"AutoConfig": "evil.Config", "AutoModelForMaskedLM": "evil.Model"})
    (directory / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    assert hub.load_engine(directory, "x", "x").fills_blanks


def test_an_architecture_whose_attention_is_its_own_is_refused(tmp_path: Path):
    backend = checkpoints.word_pieces(checkpoints.BERT_MARKS)
    config = transformers.DebertaV2Config(vocab_size=backend.get_vocab_size(), **checkpoints.SIZES)
    checkpoints.write(tmp_path, transformers.DebertaV2ForMaskedLM(config), backend, checkpoints.BERT_MARKS, seed=1)
    with pytest.raises(ModelUnavailable, match="deberta-v2.*cannot be shown"):
        hub.load_engine(tmp_path, "x", "x")


def test_an_architecture_that_gives_another_outcome_through_our_attention_is_refused(checkpoint, monkeypatch):
    def with_soft_cap(query, key, value, mask, *, scale, bias, change):
        return attend(torch.tanh(query), key, value, mask, scale=scale, bias=bias, change=change)

    monkeypatch.setattr("tx_core.recorder.attend", with_soft_cap)
    with pytest.raises(ModelUnavailable, match="cannot be shown"):
        hub.load_engine(checkpoint("roberta"), "x", "x")


RUN_FROM_CACHE = """
from tx_core import models
engine = models.load("someone/tiny-model")
print(engine.title, engine.num_layers, engine.trace("Time flies").attention.weights.shape[1], engine.fills_blanks)
"""


def test_a_model_in_the_local_hub_cache_is_loaded_offline_where_any_is_allowed(checkpoint, tmp_path: Path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    home = tmp_path / "hub" / "models--someone--tiny-model"
    shutil.copytree(checkpoint("roberta"), home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit, encoding="utf-8")
    settings = {
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "TX_ANY_MODEL": "1",
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    run = subprocess.run([sys.executable, "-c", RUN_FROM_CACHE], env=kept | settings, capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == ["someone/tiny-model", "3", "4", "True"], run.stderr
    assert run.stderr == ""
