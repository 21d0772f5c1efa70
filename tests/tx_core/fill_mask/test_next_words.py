"""What comes next: probabilities by hand and by the transformers library, and writing that a seed repeats."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from tests.support.checkpoints import GPT2_MARKS, HEAD_DIM, NO_PADDING, SIZES, byte_level, write, write_decoder
from tx_core import Intervention, load, next_words
from tx_core.analysis.probabilities import probabilities
from tx_core.engine import catalogue
from tx_core.engine.hub.load import load_engine
from tx_core.engine.hub.verify import predicts_next_token
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.fill_mask.next_words import NO_NEXT_WORD, Sampling, draw, next_logits, write_words
from tx_core.fill_mask.predictions import predict

BEGINNING = "Once upon a"


def test_shares_by_hand():
    logits = np.log(np.array([0.1, 0.4, 0.2, 0.3]))
    np.testing.assert_allclose(Sampling().shares(logits), [0.1, 0.4, 0.2, 0.3])
    np.testing.assert_allclose(Sampling(top_k=2).shares(logits), [0, 4 / 7, 0, 3 / 7])
    np.testing.assert_allclose(Sampling(temperature=0.5).shares(logits), np.array([1, 16, 4, 9]) / 30)
    np.testing.assert_allclose(Sampling(top_k=3, top_p=0.7).shares(logits), [0, 4 / 7, 0, 3 / 7])
    with pytest.raises(ValueError, match="top_k must be 0 or more, got -1"):
        Sampling(top_k=-1)


def test_a_number_draws_the_token_whose_part_of_the_interval_holds_it():
    share = np.array([0.2, 0.0, 0.5, 0.3])
    assert [draw(share, number) for number in (0.0, 0.49, 0.5, 0.79, 0.8, 0.999999)] == [2, 2, 3, 3, 0, 0]
    assert draw(np.array([0.0, 1 - 1e-12]), 0.9999999999999) == 1


def test_the_writer_knows_how_a_tale_begins(writer):
    best, second, *_ = next_words(writer, BEGINNING)
    assert best.word == "time" and best.probability > 0.5 > second.probability
    logits = next_logits(writer, writer.encode(BEGINNING), [3])[0]
    assert best.probability == pytest.approx(float(probabilities(logits).max()))
    assert next_words(writer, BEGINNING, interventions=[Intervention("off", layer=5)])[0].probability != best.probability


def test_one_token_five_times_is_five_tokens_and_another_seed_is_another_text(writer):
    sampling = Sampling(0.9, 40, 0.95)
    five = write_words(writer, BEGINNING, 5, seed=3, sampling=sampling)
    one_by_one = ()
    for _ in range(5):
        one_by_one = write_words(writer, BEGINNING, 1, seed=3, sampling=sampling, written=one_by_one)
    assert five == one_by_one and 1 <= len(five) <= 5
    time, flat = next_words(writer, BEGINNING)[0].id, Sampling(5.0)  # typed or written, it is at the same position
    typed = write_words(writer, f"{BEGINNING} time", 3, seed=3, sampling=flat)
    assert write_words(writer, BEGINNING, 3, seed=3, sampling=flat, written=(time,)) == (time, *typed)
    encoding = writer.encode(BEGINNING, None, (time,))
    share = flat.shares(next_logits(writer, encoding, [len(encoding) - 1])[0])
    assert typed[0] == draw(share, np.random.default_rng([3, len(encoding)]).random())
    assert len({write_words(writer, BEGINNING, 4, seed=seed, sampling=sampling) for seed in range(3)}) > 1
    branch = write_words(writer, BEGINNING, 1, seed=3, sampling=sampling, written=(*five[:2], 100))
    assert branch[:3] == (*five[:2], 100) and len(branch) == 4


@pytest.mark.ci
def test_top_k_of_1_writes_what_the_library_writes_without_chance(writer):
    theirs = transformers.AutoModelForCausalLM.from_pretrained(catalogue.MODELS / catalogue.WRITER, dtype=torch.float32).eval()
    ids = writer.encode("She opened the door and").ids
    with torch.no_grad():
        wanted = theirs.generate(torch.tensor([ids]), max_new_tokens=8, do_sample=False)[0, len(ids) :].tolist()
    assert list(write_words(writer, "She opened the door and", 8, seed=0, sampling=Sampling(top_k=1))) == wanted


@pytest.mark.ci
def test_writing_ends_with_a_special_token_and_where_no_more_can_be_read(writer):
    end = writer.tokenizer.entry("[SEP]")
    assert write_words(writer, BEGINNING, 5, seed=0, written=(end,)) == (end,)
    long = tuple([100] * (writer.info.max_tokens - 5))
    assert len(write_words(writer, BEGINNING, 5, seed=0, written=long)) == len(long) + 1


@pytest.mark.ci
@pytest.mark.parametrize(
    ("family", "own"), [("Mistral", {"sliding_window": 4}), ("Llama", {}), ("Qwen2", {}), ("Qwen3", {"head_dim": HEAD_DIM})]
)
def test_a_relative_of_llama_says_what_the_library_says_comes_next(tmp_path, family: str, own: dict[str, int]):
    write_decoder(tmp_path, family, kind="ForCausalLM", num_key_value_heads=2, **own)
    engine = load_engine(tmp_path, family, family)
    assert engine.info.predicts_next and engine.parts is not None
    written = write_words(engine, "Time flies", 4, seed=1)
    encoding = engine.encode("Time flies", None, written)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = theirs(torch.tensor([encoding.ids])).logits[0]
    places = range(len(encoding) - 5, len(encoding))
    np.testing.assert_allclose(next_logits(engine, encoding, places), logits[-5:].numpy(), rtol=0, atol=1e-4)
    assert not np.triu(engine.trace("Time flies", written=written).attention.weights, 1).any()


GEMMA = {"head_dim": HEAD_DIM, "num_key_value_heads": 2, "query_pre_attn_scalar": HEAD_DIM}


@pytest.mark.parametrize(
    ("sizes", "name", "own"), [("GPTNeoX", "GPTNeoX", {}), ("Gemma3Text", "Gemma3", GEMMA), ("OPT", "OPT", {})]
)
def test_a_causal_model_of_any_family_says_what_the_library_says_comes_next(tmp_path, sizes: str, name: str, own: dict[str, int]):
    backend = byte_level(GPT2_MARKS)
    config = getattr(transformers, f"{sizes}Config")(vocab_size=backend.get_vocab_size(), **SIZES | NO_PADDING | own)
    theirs = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    write(tmp_path, theirs, backend, GPT2_MARKS, seed=1)
    engine = load_engine(tmp_path, name, name)
    assert engine.info.predicts_next and not engine.info.fills_blanks
    with torch.no_grad():
        shares = theirs(torch.tensor([engine.encode("Time flies").ids])).logits[0, -1].softmax(-1)
    found = {one.id: one.probability for one in next_words(engine, "Time flies")}
    assert found == pytest.approx({entry: float(shares[entry]) for entry in found}, abs=1e-5)
    assert next(iter(found)) == int(shares.argmax())


def test_which_families_predict_the_next_token_follows_from_what_the_library_has_heads_for():
    known = {name: transformers.CONFIG_MAPPING[name] for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES}
    alone = {name: SimpleNamespace(model_type=name, is_encoder_decoder=False, is_decoder=False) for name in known}
    writing = {name for name, config in alone.items() if predicts_next_token(config)}
    assert {"gpt2", "gpt_neox", "gemma3", "gemma3_text", "llama", "opt", "olmo2", "cohere", "granite", "phi3"} <= writing
    both = known.keys() - writing
    assert {"bert", "roberta", "electra", "xlm-roberta", "xlnet", "bert-generation"} <= both
    assert both - {"xlnet", "bert-generation"} <= set(MODEL_FOR_MASKED_LM_MAPPING_NAMES)
    assert all(predicts_next_token(SimpleNamespace(**vars(alone[name]) | {"is_decoder": True})) for name in both)
    for name in ("t5", "bart", "whisper"):
        assert not predicts_next_token(transformers.CONFIG_MAPPING[name]())


def test_a_family_that_writes_does_not_where_its_model_looks_both_ways(tmp_path):
    write_decoder(tmp_path, "Gemma3Text", use_bidirectional_attention=True, **GEMMA)
    engine = load_engine(tmp_path, "g", "g")
    assert np.triu(engine.trace("Time flies").attention.weights, 1).any()
    assert not engine.info.predicts_next


def test_a_model_that_does_not_write_and_a_text_that_cannot_be_read_are_refused(writer):
    with pytest.raises(ModelUnavailable) as told:
        next_words(load("embedded"), BEGINNING)
    assert str(told.value) == NO_NEXT_WORD.format(title=catalogue.card("embedded").title)
    for text in ("", "   "):
        with pytest.raises(TextProblem, match="no text yet"):
            write_words(writer, text, 3, seed=0)
    assert next_words(writer, "😀 <b>مرحبا</b>")


def test_predict_answers_for_gpt2_as_the_library_does(hub_engine, reference):
    (blank,) = predict(hub_engine("gpt2"), "the dog", top_k=5).blanks
    with torch.no_grad():
        shares = reference("gpt2")(torch.tensor([hub_engine("gpt2").encode("the dog").ids])).logits[0, -1].double().softmax(-1)
    best = shares.topk(5)
    assert [one.id for one in blank.predictions] == best.indices.tolist()
    np.testing.assert_allclose([one.probability for one in blank.predictions], best.values, rtol=1e-4)
