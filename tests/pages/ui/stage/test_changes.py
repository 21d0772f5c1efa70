"""A reader's changes: made, taken back, and named."""

from collections.abc import Sequence
from types import SimpleNamespace

from pages.ui.stage import texts as stage_texts
from pages.ui.stage.changes import describe_change, with_change, without_change
from tx_core.transformer.interventions import NO_VECTORS, Intervention, read_interventions


def test_a_new_temperature_takes_the_place_of_the_old_one_and_1_takes_it_away():
    once = with_change((Intervention("off", 0, 1),), Intervention("temperature", value=2.0))
    assert with_change(once, Intervention("temperature", value=0.5)) == (
        Intervention("off", 0, 1),
        Intervention("temperature", value=0.5),
    )
    assert with_change(once, Intervention("temperature", value=1.0)) == (Intervention("off", 0, 1),)
    assert with_change((Intervention("sparse", 2),), Intervention("hard", 2)) == (Intervention("hard", 2),)
    assert without_change(once, Intervention("off", 0, 1)) == (Intervention("temperature", value=2.0),)


PUT_IN = "mean~2-1_off~mlp~1_patch~residual~2~2_patch~2-1"


def stack_of(kind: str, layers: int, queries: Sequence[str], keys: Sequence[str]) -> SimpleNamespace:
    axes = {"query_tokens": SimpleNamespace(tokens=queries), "key_tokens": SimpleNamespace(tokens=keys)}
    return SimpleNamespace(kind=kind, weights=range(layers), **axes)


def test_where_a_model_has_several_stacks_the_stack_is_named_and_its_own_layers_are_counted():
    text, written = ("the", "dog", "dog"), ("<s>", "der")
    stacks = [stack_of("self", 2, text, text), stack_of("decoder", 3, written, written), stack_of("cross", 3, written, text)]
    link = "off~2-1_off~3-1_cut~2-2~5_cut~2-2~6-4_hide~2"
    encoder, decoder, cross = (stage_texts.STACK_NAMES[stack.kind] for stack in stacks)
    in_head, in_layer = stage_texts.CHANGE_PLACES["head in a stack"], stage_texts.CHANGE_PLACES["layer in a stack"]
    der, dog = "“der”", "“dog” (2)"  # by its position only where a word occurs twice
    off, cut = stage_texts.CHANGE_IN_PLACE["off"], stage_texts.CHANGE_IN_PLACE["cut"]
    assert [describe_change(one, stacks) for one in read_interventions(link)] == [
        off.format(place=in_head.format(layer=2, head=1, stack=encoder)),
        off.format(place=in_head.format(layer=1, head=1, stack=decoder)),
        cut.format(place=in_layer.format(layer=3, stack=decoder), query=der, key=der),
        cut.format(place=in_head.format(layer=1, head=4, stack=cross), query=der, key=dog),
        stage_texts.CHANGE_EVERYWHERE["hidden"].format(key=dog),
    ]


def test_what_is_put_in_is_named_by_its_place_and_without_another_text_only_means_are():
    tokens = ("the", "dog")
    names = [describe_change(one, [stack_of("self", 2, tokens, tokens)]) for one in read_interventions(PUT_IN)]
    assert names == [
        "Layer 2, head 1: mean attention output",
        "Layer 1: feed-forward switched off",
        "Layer 2: vector of “dog” from the other text",
        "Layer 2, head 1: attention from the other text",
    ]


def test_a_change_without_another_text_is_dropped_from_a_link_and_a_mean_is_computed(open_app):
    app = open_app("attention", text="Time flies like an arrow.", changes=PUT_IN)
    assert not app.exception
    assert app.session_state["attention_changes"] == read_interventions("mean~2-1_off~mlp~1")
    assert NO_VECTORS in [one.value for one in app.info]
