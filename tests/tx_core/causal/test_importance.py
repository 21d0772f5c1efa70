"""The importance of a component is what hooks in the library's model take from each prompt, one at a time."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.checkpoints import HEAD_DIM
from tests.tx_core.causal.test_patch import MODULES, hooks, read
from tx_core.causal.importance import Importance, Measuring, Prompt, importance, main, prompt_of, read_answer_prompts
from tx_core.causal.prompt_sets import PROMPT_SETS, kept_scores, prompt_set
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.engine import Engine
from tx_core.errors import Busy, TextProblem
from tx_core.transformer.interventions import Intervention

PROMPTS = [
    {"text": "the ___ fox over the quick dog", "answer": "the", "other": "and"},
    {"text": "where ___ each head look", "answer": "and"},
]
SENTENCES = ["She poured the tea.", "Time flies like an arrow; fruit flies like a banana."]
NUMBER = [
    {"text": f"The {noun} near the {other} [MASK] old.", "answer": verb, "other": wrong}
    for noun, other, verb, wrong in (
        ("key", "cabinets", "is", "are"),
        ("keys", "cabinet", "are", "is"),
        ("dog", "houses", "is", "are"),
        ("dogs", "house", "are", "is"),
    )
]


@pytest.mark.parametrize("ablation", ["off", "mean", "resample"])
@pytest.mark.parametrize("family", ["bert", "gpt2"])
@torch.inference_mode()
def test_effects_are_those_of_hooks_one_component_and_prompt_at_a_time(family: str, ablation: str, hub_engine, reference):
    engine, model = hub_engine(family), reference(family)
    rows = [row | {"text": row["text"].replace("___ ", "")} if family == "gpt2" else row for row in PROMPTS[:1] * 2]
    rows[1] = rows[1] | {"text": rows[1]["text"].replace("fox", "dog").replace("quick dog", "quick fox"), "other": ""}
    found = importance(engine, rows, ablation, sentences=SENTENCES)
    ids = [torch.tensor([engine.encode(row["text"]).ids]) for row in rows]
    assert ids[0].shape == ids[1].shape
    entries = [engine.tokenizer.pieces(word)[0] for word in ("the", "and")]
    place = ids[0].shape[1] - 1 if family == "gpt2" else engine.encode(rows[0]["text"]).blanks[0]

    def score(number: int) -> float:
        logs = model(ids[number]).logits[0, place].double().log_softmax(-1)
        return float(logs[entries[0]] - (logs[entries[1]] if number == 0 else 0))

    def given(path: str, prompt: int, *, inputs: bool) -> torch.Tensor:
        """Return what is put in: zeros, the mean of all sentences' tokens, or what the other prompt has."""
        texts = [torch.tensor([engine.encode(text).ids]) for text in SENTENCES] if ablation == "mean" else [ids[1 - prompt]]
        vectors = [read(model, text, path, inputs=inputs) for text in texts]
        return torch.cat(vectors, dim=1).mean(dim=1, keepdim=True) if ablation == "mean" else vectors[0] * (ablation != "off")

    for prompt in range(2):
        assert found.scores[prompt] == pytest.approx(score(prompt), abs=1e-5)
        for number, one in enumerate(found.components):
            inputs = one.part != "mlp"
            path = MODULES[family]["attention" if inputs else "mlp"].format(layer=one.layer)
            new = given(path, prompt, inputs=inputs)
            columns = slice(None) if one.head is None else slice(one.head * HEAD_DIM, (one.head + 1) * HEAD_DIM)
            with hooks(model, {path: put_into(columns, new)}, inputs=inputs):
                expected = found.scores[prompt] - score(prompt)
            assert found.effects[prompt, number] == pytest.approx(expected, abs=2e-5), (prompt, one)
    assert np.abs(found.effects).max() > 0.05


def put_into(columns: slice, new: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(values: torch.Tensor) -> torch.Tensor:
        values = values.clone()
        values[..., columns] = new[..., columns]
        return values

    return change


def test_the_interval_is_that_of_the_mean_over_prompts():
    drawn = np.random.default_rng(3).normal(1.0, 2.0, size=(400, 1))
    effects = np.concatenate([drawn, np.full((400, 1), 0.5)], axis=1)
    components, prompts = (Intervention("off", 0, part="mlp"), Intervention("off", 0, 1)), (Prompt("", "", ""),) * 400
    table = Importance(components, prompts, np.ones(400), effects, {}).to_pandas()
    half = 1.96 * drawn.std() / 20
    wide = table[table.part == "mlp"].iloc[0]
    assert (wide.low, wide.high) == pytest.approx((drawn.mean() - half, drawn.mean() + half), abs=0.03)
    assert wide.turned == pytest.approx((drawn > 1).mean())
    same = table[table.part == "head"].iloc[0]
    assert (same.effect, same.low, same.high, same["head"]) == pytest.approx((0.5, 0.5, 0.5, 2))


def test_prompts_of_a_phrase_are_drawn_again_together_and_groups_have_their_own_means():
    """Two phrases in twenty forms each are two cases: the mean of two drawn again is either one's, or that of both."""
    effects, groups = np.repeat([[1.0], [3.0]], 20, axis=0), ("one", "other")
    prompts = tuple(Prompt("", "", "", f"phrase {number // 20}", groups[number % 2]) for number in range(40))
    effects[::2] += 0.5
    shared = Importance((Intervention("off", 0, 1),), prompts, np.ones(40), effects, {})
    alone = replace(shared, prompts=(Prompt("", "", ""),) * 40)
    assert shared.intervals[:, 0] == pytest.approx([1.25, 3.25]) and (shared.phrases, alone.phrases) == (2, 0)
    assert np.ptp(alone.intervals[:, 0]) < 0.7
    assert {name: float(mean[0]) for name, mean in shared.by_group.items()} == {"one": 2.5, "other": 2.0}
    assert alone.by_group == {}


@pytest.mark.parametrize("name", PROMPT_SETS)
def test_a_built_in_set_has_ten_phrases_each_in_both_groups(name: str):
    rows = prompt_set(name)
    assert list(Counter(row["phrase"] for row in rows).values()) == [4] * 10
    assert list(Counter((row["phrase"], row["group"]) for row in rows).values()) == [2] * 20


def test_a_pair_is_a_blank_for_a_model_that_fills_and_a_beginning_for_one_that_writes():
    pair = {"sentence_good": "Many girls insulted themselves.", "sentence_bad": "Many girls insulted herself."}
    assert prompt_of(pair, predicts_next=False) == Prompt("Many girls insulted [MASK].", "themselves", "herself")
    assert prompt_of(pair, predicts_next=True) == Prompt("Many girls insulted", "themselves", "herself")
    moved = {"sentence_good": "Who should Derek hug after that?", "sentence_bad": "Who should Derek hug Richard after?"}
    assert prompt_of(moved, predicts_next=True) == Prompt("Who should Derek hug", "after", "Richard")
    with pytest.raises(TextProblem, match="one word"):
        prompt_of(moved, predicts_next=False)
    with pytest.raises(TextProblem, match="nothing to read"):
        prompt_of({"sentence_good": "They sing.", "sentence_bad": "Them sing."}, predicts_next=True)


def test_the_command_goes_on_where_it_was_interrupted(tmp_path: Path, capsys):
    file, scores = tmp_path / "prompts.jsonl", tmp_path / "prompts.importance.scores.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in NUMBER), encoding="utf-8")
    main([str(file)])
    printed = capsys.readouterr().out
    assert "4 prompts, mean score" in printed and "over prompts drawn again" in printed and "partly by chance" in printed
    table, whole = (tmp_path / "prompts.importance.csv").read_text(), scores.read_text()
    head, first, second, *_ = whole.split("\n")
    score, *others = json.loads(first)
    changed = json.dumps([score, *(one + 1 for one in others)])
    scores.write_text(f"{head}\n{changed}\n{second[:9]}", encoding="utf-8")  # cut off within the second line
    main([str(file)])
    assert scores.read_text() == whole.replace(first, changed)
    assert table.splitlines()[0] == "layer,part,head,effect,low,high,turned"
    with pytest.raises(SystemExit):
        main([str(file), "--ablation", "mean"])
    assert "holds another measurement" in capsys.readouterr().err


def test_a_table_is_read_by_the_names_of_its_columns_and_a_line_that_is_no_prompt_is_named(tmp_path: Path):
    file = tmp_path / "prompts.csv"
    file.write_text('text,answer,other\n"It [MASK], here.",is,\n', encoding="utf-8")
    assert read_answer_prompts(str(file)) == [{"text": "It [MASK], here.", "answer": "is"}]
    file.write_text("text,answer\nIt [MASK].,is\nIt [MASK].,\n", encoding="utf-8")
    with pytest.raises(TextProblem, match="Line 3 of the file is no prompt"):
        read_answer_prompts(file)
    broken = tmp_path / "prompts.jsonl"
    for line in ('{"text": ', '{"text": 5, "answer": "is"}', "[" * 100_000):
        broken.write_text(f'\n{{"text": "It [MASK].", "answer": "is"}}\n\n{line}\n', encoding="utf-8")
        with pytest.raises(TextProblem, match="Line 4 of the file is no prompt"):
            read_answer_prompts(broken)
    broken.write_bytes(b"\xff\x00")
    with pytest.raises(TextProblem, match="not text that can be read"):
        read_answer_prompts(broken)
    file.write_text('text;answer\n"It [MASK].;is\n', encoding="utf-8")
    with pytest.raises(TextProblem, match="Is a quotation mark open"):
        read_answer_prompts(file)


def test_kept_scores_are_those_of_the_weights_not_of_a_name(tmp_path: Path, checkpoint):
    kept, prompts = tmp_path / "scores.jsonl", PROMPTS[:1]
    first = load_own_engine(checkpoint("bert"), "bert", "Bert")
    importance(first, prompts, kept_in=kept)
    other = load_own_engine(checkpoint("bert"), "bert", "Bert")
    with torch.no_grad():  # of a feed-forward network alone
        other.model.encoder.blocks[1].feed_forward.down.weight *= 1.5
    with pytest.raises(TextProblem, match="holds another measurement"):
        importance(other, prompts, kept_in=kept)
    assert list(Measuring(first, prompts, kept_in=kept).updates()) == []


def test_a_busy_host_is_waited_for(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    refusals, score = [Busy("Later."), Busy("Later.")], type(engine).blank_logits

    def blank_logits(*asked: object, **changes: object) -> object:
        if refusals:
            raise refusals.pop()
        return score(*asked, **changes)

    monkeypatch.setattr(type(engine), "blank_logits", blank_logits)
    *_, last = Measuring(engine, NUMBER[:1]).updates()
    assert not refusals and (last.done, last.total) == (1, 1)


@pytest.mark.parametrize("name", PROMPT_SETS)
@pytest.mark.parametrize("ablation", ["off", "mean", "resample"])
def test_the_scores_of_a_built_in_set_that_ship_are_the_model_s(engine: Engine, name: str, ablation: str):
    prompts = prompt_set(name)
    found = importance(engine, prompts, ablation, kept_in=kept_scores(name, ablation))
    assert (len(found.scores), found.left_out) == (len(prompts), {})
    fresh = importance(engine, prompts[:2], ablation)
    np.testing.assert_allclose(found.effects[0], fresh.effects[0], atol=1e-4)
    answers = [prompt.answer for prompt in found.prompts]
    assert all(one != following for one, following in pairwise(answers))  # for "resample"
