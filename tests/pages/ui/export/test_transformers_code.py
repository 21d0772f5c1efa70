"""The code of a map and of lists computes the same for every family of models and every intervention."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pages.bertviz_page.frame import numbers
from pages.fill_mask.export import lists_export
from pages.fill_mask.inputs import BlankInputs
from pages.fill_mask.predictions import ListSettings, SentencePredictions
from pages.fill_mask.run import BlankRun
from pages.ui.export.attention import AttentionMap, attention_export
from pages.ui.export.computation import python
from tests.support.exports import map_of_page
from tests.support.snippets import computed, hub_home
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.fill_mask.word_scores import score_words
from tx_core.transformer.interventions import Intervention

pytestmark = pytest.mark.ci

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = {"words": True, "hide": True, "heads": ((1, 2), (0, 3))}
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
Claim = tuple[str, str, np.ndarray]
"""Some code, an expression at its end, and what it must be."""


def of_map(shown: AttentionMap) -> list[Claim]:
    """What every kind of code for a map must give."""
    export, maps = attention_export(shown), {"weights": shown.weights}
    if shown.before is not None:
        maps |= {"before": shown.before, "difference": shown.weights - shown.before}
    codes = filter(None, (export.project(), export.transformers))
    return [(code, *claim) for code in codes for claim in maps.items()]


def hold(claims: Sequence[Claim], folder: Path) -> None:
    codes = {code: [claim[1:] for claim in claims if claim[0] == code] for code in dict.fromkeys(claim[0] for claim in claims)}
    found = computed([(code, [expression for expression, _ in own]) for code, own in codes.items()], folder)
    for (code, own), given in zip(codes.items(), found, strict=True):
        for (expression, expected), number in zip(own, given, strict=True):
            np.testing.assert_allclose(number, expected, atol=1e-5, rtol=1e-5, err_msg=f"{expression} of\n{code}")


def test_of_the_embedded_model_whatever_is_typed_chosen_merged_hidden_or_changed(tmp_path: Path):
    text, flies = "The old man's unbelievable ___ \"time\" flies, \\n 💥 '''שלום'''\u202e", "time flies like an arrow"
    shown = [
        map_of_page("embedded", text, "fruit flies like a banana", **WORDS),
        map_of_page("embedded", "[SEP] [CLS]", hide=True),
        map_of_page("embedded", flies, changes=CHANGES),
        map_of_page("embedded", flies, changes=WITHOUT_POSITIONS),
        map_of_page("embedded", flies, changes=PADDED, **WORDS),
        map_of_page("embedded", "time flies like an ___", "fruit flies", CHANGES, special=False, **WORDS),
        map_of_page("film_reviews", flies, changes=CHANGES),
    ]
    assert not attention_export(map_of_page("film_reviews", flies)).transformers
    hold(
        [
            *(claim for one in [*shown, map_of_page("embedded", flies)] for claim in of_map(one)),
            *of_lists("embedded", special=True),
        ],
        tmp_path,
    )


HUB = {
    "bert-base-uncased": ("bert", {}),
    "roberta-base": ("roberta", WORDS),
    "gpt2": ("gpt2", WORDS),
    "t5-small": ("t5", WORDS | {"kind": "cross"}),
    "bart-base": ("bart", {"kind": "decoder"}),
}


def test_of_hub_models_with_and_without_changes(checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: directories[hub_id])
    directories, claims = {}, []
    for name, (family, options) in HUB.items():
        directories[catalogue.card(name).hub_id] = checkpoint(family)
        put_into_the_hubs_cache(checkpoint(family), catalogue.card(name))
        pair = "" if options.get("kind") == "decoder" else "fruit flies"
        for changes, second, special in (((), pair, False), (CHANGES, "fruit flies", True), (PADDED, pair, True)):
            claims += of_map(map_of_page(name, "time flies like an arrow", second, changes, special=special, **options))
        claims += [] if "kind" in options else of_map(map_of_page(name, "time ___ like an arrow", heads=((0, 1), (1, 0))))
    claims += of_map(map_of_page("gpt2", "time flies", "fruit flies"))
    assert sum("import AutoModel" in code for code, *_ in claims) == 5  # of BERT and GPT-2 also one with a pair of sentences
    claims += of_lists("roberta-base", special=False)
    trace = catalogue.load("t5-small").trace("time flies", "fruit flies")
    every, alone = (python(numbers(trace, [stack.kind for stack in stacks])) for stacks in (trace.stacks, trace.stacks[1:2]))
    claims += [(every, f"weights['{stack.kind}']", stack.weights) for stack in trace.stacks]
    claims.append((alone, "weights", trace.stacks[1].weights))
    hold(claims, tmp_path)


def of_lists(model: str, special: bool) -> list[Claim]:
    """What the code for lists and for a named word must give, whatever the model's blank and vocabulary."""
    engine, text = catalogue.load(model, special_tokens=special), "time ___ like an ___"
    filling, scores = predict(engine, text, top_k=4), [score_words(engine, text, ("flies",), blank=blank) for blank in (0, 1)]
    inputs = BlankInputs("fill_mask", {}, (), ListSettings(4, 1.0, 1.0, 1.0), model=model, bare=not special)
    answers = (SentencePredictions(text, filling, tuple(scores), ()),)
    code = lists_export(BlankRun(inputs, engine, answers, {}, None, False))
    listed = [one.probability for blank in filling.blanks for one in blank.predictions]
    expected = np.sort([*listed, *(score.probability for blank in scores for score in blank)])
    shares = "sorted(share for _, share in predictions)"
    return [(code.project(), shares, expected), (code.transformers, shares, np.sort(listed))]


def put_into_the_hubs_cache(directory: Path, card: catalogue.ModelCard) -> None:
    """Lay a tiny checkpoint where the hub's library keeps a model that it once fetched."""
    home = hub_home() / "hub" / f"models--{card.hub_id.replace('/', '--')}"
    shutil.copytree(directory, home / "snapshots" / (card.revision or COMMIT))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(card.revision or COMMIT, encoding="utf-8")
