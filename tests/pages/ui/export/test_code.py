"""The code that a page exports computes the numbers on the screen: with the core, and with the transformers library alone."""

import ast
import importlib.util
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.bertviz_page.frame import project_code, transformers_code
from pages.compare.drawings import WordThroughLayers
from pages.compare.export import maps_code, word_code
from pages.compare.runs import RunPair, run
from pages.compare.state import Side
from pages.fill_mask.export import Lists, project_lists, transformers_lists
from pages.summaries import attribution as attribution_part
from pages.summaries import kinds as kinds_part
from pages.summaries import logit_lens as lens_part
from pages.summaries import value_weighted as values_part
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.code import attention_code, transformers_attention_code
from pages.ui.panels.head_map import HeadMap, changed_map, drawn_padding
from pages.ui.panels.predictions import ListSettings, SentencePredictions
from pages.ui.panels.view_options import ViewOptions
from tests.support.serving import ROOT
from tests.support.snippets import computed
from tx_core.analysis import views
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.value_weighted import row_shares, value_weighted
from tx_core.analysis.word_comparison import cosines, equal_words, word_similarity, word_vectors
from tx_core.engine import catalogue
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask.predictions import predict
from tx_core.fill_mask.word_scores import score_words
from tx_core.transformer.interventions import Intervention

pytestmark = pytest.mark.ci

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PLAIN = ViewOptions("self", ((1, 2),), words=False, hide=False, show="both", lines=40, scale="blues", focus=None)
WORDS = replace(PLAIN, words=True, hide=True, heads=((1, 2), (0, 3)))
BOTH = [attention_code, transformers_attention_code]
CHANGES = (
    Intervention("off", 0, 1),
    Intervention("uniform", 0, 2),
    Intervention("hidden", positions=(2,)),
    Intervention("hidden", 1, 2, (1,)),
    Intervention("cut", 0, 0, (1, 3)),
    Intervention("cut", positions=(2, 3)),
    Intervention("temperature", 1, value=0.5),
    Intervention("temperature", value=2.0),
    Intervention("sparse", 0),
    Intervention("hard", 2),
    Intervention("causal"),
    Intervention("no_padding_mask", value=3.0),
)
WITHOUT_POSITIONS = (Intervention("no_positions"), Intervention("off", 0, 1))
PADDED = (Intervention("no_padding_mask", value=4.0),)


def map_of_page(
    model: str, text: str, pair: str, options: ViewOptions, changes: Sequence[Intervention] = (), *, special: bool = True
) -> AttentionMap:
    """What a page with these options would export. special: whether the text is read with special tokens."""
    engine = catalogue.load(model, special_tokens=special)
    trace = engine.trace(text, pair or None, interventions=changes)
    stack = next(stack for stack in trace.stacks if stack.kind == options.stack)
    view = views.view(stack, merge_words=options.words, hide_special=options.hide)
    weights, before, unchanged = views.mean_of_heads(view.weights, options.heads), None, None
    if changes:
        stack = next(stack for stack in engine.trace(text, pair or None).stacks if stack.kind == options.stack)
        unchanged = views.view(stack, merge_words=options.words, hide_special=options.hide)
        padding = drawn_padding(changes, view)
        if padding:
            view, unchanged = (views.with_padding(one, padding) for one in (view, unchanged))
        return AttentionMap(trace, changed_map(unchanged, view, options.heads, options, padding), options)
    return AttentionMap(trace, HeadMap(view, options.heads, weights, "", before, unchanged), options)


Claim = tuple[str, str, np.ndarray]
"""Some code, an expression at its end, and what it must be."""


def held_against_the_screen(shown: Sequence[AttentionMap], folder: Path, more: Sequence[Claim] = (), **settings: str) -> None:
    claims = [*((write(one), "weights", one.shown.weights) for one in shown for write in BOTH), *more]
    for one in shown:
        if one.shown.before is not None:
            difference = one.shown.weights - one.shown.before
            claims += [(write(one), "before", one.shown.before) for write in BOTH]
            claims += [(write(one), "difference", difference) for write in BOTH]
    codes = {code: [claim[1:] for claim in claims if claim[0] == code] for code in dict.fromkeys(claim[0] for claim in claims)}
    found = computed([(code, [expression for expression, _ in own]) for code, own in codes.items()], folder, **settings)
    for (code, own), numbers in zip(codes.items(), found, strict=True):
        for (expression, expected), number in zip(own, numbers, strict=True):
            np.testing.assert_allclose(number, expected, atol=1e-5, rtol=1e-5, err_msg=f"{expression} of\n{code}")


def test_of_the_embedded_model_whatever_is_typed_chosen_merged_hidden_or_changed(tmp_path: Path):
    text = "The old man's unbelievable ___ \"time\" flies, \\n 💥 '''שלום'''\u202e"
    held_against_the_screen(
        [
            map_of_page("embedded", "time flies like an arrow", "", PLAIN),
            map_of_page("embedded", text, "fruit flies like a banana", WORDS),
            map_of_page("embedded", "[SEP] [CLS]", "", replace(WORDS, words=False)),
            map_of_page("embedded", "time flies like an arrow", "", PLAIN, CHANGES),
            map_of_page("embedded", "time flies like an arrow", "", PLAIN, WITHOUT_POSITIONS),
            map_of_page("embedded", "time flies like an arrow", "", WORDS, PADDED),
            map_of_page("embedded", "time flies like an arrow", "", PLAIN, special=False),
            map_of_page("embedded", "time flies like an ___", "fruit flies", WORDS, CHANGES, special=False),
            map_of_page(
                "embedded", "Tom lost his keys.", "He was late.", WORDS, [Intervention("off", 0), Intervention("off", 1, 3)]
            ),
        ],
        tmp_path,
    )


HUB = {
    "bert-base-cased": ("bert", PLAIN),
    "roberta-base": ("roberta", WORDS),
    "distilbert-base-uncased": ("distilbert", PLAIN),
    "albert-base-v2": ("albert", PLAIN),
    "electra-small": ("electra", WORDS),
    "gpt2": ("gpt2", WORDS),
    "t5-small": ("t5", replace(WORDS, stack="cross")),
    "bart-base": ("bart", replace(PLAIN, stack="decoder")),
}


def test_of_hub_models_with_and_without_changes(checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: directories[hub_id])
    directories, shown = {}, []
    for name, (family, options) in HUB.items():
        directories[catalogue.card(name).hub_id] = checkpoint(family)
        put_into_the_hubs_cache(checkpoint(family), tmp_path, catalogue.card(name))
        pair = "" if options.stack == "decoder" else "fruit flies"
        shown.append(map_of_page(name, "time flies like an arrow", pair, options))
        shown.append(map_of_page(name, "time flies like an arrow", "fruit flies", options, CHANGES))
        shown.append(map_of_page(name, "time flies like an arrow", pair, options, PADDED))
        shown.append(map_of_page(name, "time flies like an arrow", pair, options, special=False))
    host(any_model=1)
    for family in ("modernbert", "xlm-roberta"):  # not in the catalogue
        directories[f"any/{family}"] = checkpoint(family)
        put_into_the_hubs_cache(checkpoint(family), tmp_path, catalogue.card(f"any/{family}"))
    summed = [claim for name in (*HUB, "any/modernbert", "any/xlm-roberta") for claim in summed_up(name)]
    readings = (True, False)
    filling = [
        claim for name in ("bert-base-cased", "roberta-base", "albert-base-v2") for one in readings for claim in filled(name, one)
    ]
    comparing = [
        claim for name in ("roberta-base", "distilbert-base-uncased") for one in readings for claim in followed(name, one)
    ]
    drawing = [claim for name in ("t5-small", "bart-base") for claim in drawn_by_bertviz(name)]
    more = [*filling, *comparing, *drawing, *of_one_token("gpt2"), *summed]
    held_against_the_screen(shown, tmp_path, more, HF_HOME=str(tmp_path), TX_ANY_MODEL="1")


def summed_up(model: str) -> list[Claim]:
    """What the code for values, for early answers and for gradients must give, where the model has them."""
    engine, text = catalogue.load(model), "time flies like an ___ arrow"
    trace = engine.trace(text, keep=("weights", "value", "hidden"))
    found = value_weighted(engine, trace.attention, 1)
    code = values_part.code("one", trace, (1, 2))
    claims = [(code, "by_values", row_shares(found.mixed[2])), (code, "together", row_shares(found.together))]
    if len(trace.stacks) == 1:  # an encoder-decoder predicts with its decoder
        early, code = logit_lens(engine, trace, 3), lens_part.code("one", trace, 3, 5)
        claims += [(code, "shares", early.shares), (code, "rank", early.rank)]
    if engine.info.fills_blanks and len(trace.stacks) == 1:
        owed = attribute(engine, trace.attention.query_tokens, trace.attention.query_tokens.blanks[0], 9)
        code = attribution_part.code("one", trace, owed.place, 9)
        claims += [(code, "gradient_input", owed.gradient_input), (code, "integrated", owed.integrated)]
    return claims


def drawn_by_bertviz(model: str) -> list[Claim]:
    """What the code for all attentions of an encoder-decoder, and for one of them, must give."""
    trace = catalogue.load(model).trace("time flies like an arrow", "fruit flies")
    kinds = [stack.kind for stack in trace.stacks]
    codes = [project_code("all", trace, kinds), transformers_code("all", trace, kinds, "head_view")]
    every = [(code, f"weights['{stack.kind}']", stack.weights) for code in codes for stack in trace.stacks]
    alone = [project_code("one", trace, kinds[1:2]), transformers_code("one", trace, kinds[1:2], None)]
    return [*every, *((code, "weights", trace.stacks[1].weights) for code in alone)]


def of_one_token(model: str) -> list[Claim]:
    """What the code for how widely heads look must give where there is nothing to choose."""
    trace = next(trace for text in "aeiot" if len((trace := catalogue.load(model).trace(text)).attention.key_tokens) == 1)
    nothing = np.zeros(trace.attention.weights.shape[:2])
    return [(kinds_part.code("one", trace), "spread", nothing)]


def filled(model: str, special: bool) -> list[Claim]:
    """What the code for lists and for a named word must give, whatever the model's blank and vocabulary."""
    engine, text = catalogue.load(model, special_tokens=special), "time ___ like an ___"
    filling, scores = predict(engine, text, top_k=4), [score_words(engine, text, ("flies",), blank=blank) for blank in (0, 1)]
    lists = Lists(model, (SentencePredictions(text, filling, tuple(scores), ()),), ListSettings(4, 1.0, 1.0, 1.0))
    listed = [one.probability for blank in filling.blanks for one in blank.predictions]
    expected = np.sort([*listed, *(score.probability for blank in scores for score in blank)])
    shares = "sorted(share for _, share in predictions)"
    return [(write("lists", lists), shares, expected) for write in (project_lists, transformers_lists)]


def followed(model: str, special: bool) -> list[Claim]:
    """What the code for a word's vectors in two sentences must give."""
    sides = [
        Side(text, "", model, (0, None), 0, (), special) for text in ("time flies like an arrow", "fruit flies like an apple")
    ]
    one, other = (run(side, hide=False) for side in sides)
    places = equal_words(one.spelled, other.spelled)[0]
    vectors = [word_vectors(each.trace.hidden, each.view.query_places) for each in (one, other)]
    found = word_similarity(cosines(*vectors), one.spelled, other.spelled, places)
    word = WordThroughLayers(places, "flies", found)
    return [(word_code("word", RunPair(one, other, "text", False), word), "word", found.word)]


def put_into_the_hubs_cache(directory: Path, cache: Path, card: catalogue.ModelCard) -> None:
    """Lay a tiny checkpoint where the hub's library keeps a model that it once fetched."""
    home = cache / "hub" / f"models--{card.hub_id.replace('/', '--')}"
    shutil.copytree(directory, home / "snapshots" / (card.revision or COMMIT))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(card.revision or COMMIT, encoding="utf-8")


def test_code_is_written_of_what_was_run_also_where_its_model_can_no_longer_be_had(monkeypatch: pytest.MonkeyPatch):
    engine, text = catalogue.load("embedded"), "The old ___ sat by [MASK]."
    shown = map_of_page("embedded", text, "It was <mask>.", WORDS)
    scores = tuple(score_words(engine, text, ("tea", "unbelievably"), blank=blank) for blank in (0, 1))
    lists = Lists(
        "embedded", (SentencePredictions(text, predict(engine, text, top_k=4), scores, ()),), ListSettings(4, 1.0, 1.0, 1.0)
    )

    def gone(name: str) -> None:
        raise ModelUnavailable(f"{name} is gone.")

    monkeypatch.setattr(catalogue, "load", gone)
    assert "'The old [MASK] sat by [MASK].', 'It was [MASK].'" in transformers_attention_code(shown)
    code = transformers_lists("lists", lists)
    assert "'The old [MASK] sat by [MASK].'" in code
    assert [len(score.ids) for score in scores[0]] == [len(score.pieces) for score in scores[0]]
    assert all(str((0, score.word, list(score.ids))) in code for score in scores[0] if score.probability is not None)


def of_a_model_that_is_gone() -> None:
    from pages.ui.export.menu import export_menu
    from tx_core.errors import ModelUnavailable

    def gone() -> None:
        raise ModelUnavailable("It cannot be had: <b>choose another</b>.")

    export_menu("somewhere", {"What was shown": gone})


def test_what_can_no_longer_be_made_is_said_instead_of_a_traceback():
    app = AppTest.from_function(of_a_model_that_is_gone)
    app.session_state["somewhere_export"] = True
    app.run(timeout=240)
    assert not app.exception
    assert "It cannot be had: <b>choose another</b>." in [text.value for text in app.text]


@pytest.mark.parametrize("changed", [(), CHANGES], ids=["unchanged", "changed"])
@pytest.mark.parametrize("seed", [0, 2])
def test_what_the_code_of_a_comparison_imports_stands_in_order(changed: tuple[Intervention, ...], seed: int):
    one = run(Side("time flies", "", "embedded", (0, None), 0, ()), hide=False)
    other = replace(one, side=replace(one.side, seed=seed), trace=replace(one.trace, interventions=changed))
    word = WordThroughLayers((1, 1), "time", None)
    for code in (
        maps_code("maps", RunPair(one, other, "text", False)),
        word_code("word", RunPair(one, other, "text", False), word),
    ):
        imports = [line for line in code.splitlines() if line.startswith("from tx_core")]
        assert imports == sorted(imports)
        assert len(imports) == 3 + bool(changed) + (seed != 0)


@pytest.mark.parametrize("write", BOTH)
def test_typed_text_stays_a_string_in_the_code(write: Callable[[AttentionMap], str]):
    text = "\"\"\"'''\nimport os; os.abort()\n# \\"
    code = write(map_of_page("embedded", text, "", PLAIN))
    assert not [line for line in code.splitlines() if line.startswith("import os")]
    compile(code, "snippet", "exec")
    assert repr(text) in code


IMPORT = re.compile(r"from (tx_core[\w.]*) import (\w+(?:, \w+)*)")


def test_all_that_offered_code_imports_from_the_core_is_there():
    strings = {
        node.value
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    imported = {(module, name) for text in strings for module, names in IMPORT.findall(text) for name in names.split(", ")}
    missing = [pair for pair in imported if not hasattr(importlib.import_module(pair[0]), pair[1]) and not is_module(*pair)]
    assert len(imported) > 20 and missing == []


def is_module(package: str, name: str) -> bool:
    return importlib.util.find_spec(f"{package}.{name}") is not None
