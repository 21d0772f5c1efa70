"""A reader's changes: made, taken back, and named."""

from pages.ui.panels.changes import StackNames, added, in_words, without
from tx_core.transformer.interventions import MAX_INTERVENTIONS, Intervention, read_interventions, write_interventions


def test_a_new_temperature_takes_the_place_of_the_old_one_and_1_takes_it_away():
    once = added((Intervention("off", 0, 1),), Intervention("temperature", value=2.0))
    assert added(once, Intervention("temperature", value=0.5)) == (
        Intervention("off", 0, 1),
        Intervention("temperature", value=0.5),
    )
    assert added(once, Intervention("temperature", value=1.0)) == (Intervention("off", 0, 1),)
    assert added((Intervention("sparse", 2),), Intervention("hard", 2)) == (Intervention("hard", 2),)
    assert without(once, Intervention("off", 0, 1)) == (Intervention("temperature", value=2.0),)


def test_there_is_an_end_to_changes():
    full = tuple(Intervention("off", 0, head) for head in range(MAX_INTERVENTIONS))
    assert added(full, Intervention("off", 1, 0)) == full
    assert read_interventions(write_interventions(full)) == full


def test_changes_are_named_as_a_reader_counts_with_the_tokens_of_the_text():
    tokens = ("[CLS]", "cats", "sleep", "[SEP]")
    link = "off~2-3_even~1_hide~2_hide~2~1-2_cut~3-2_temperature~0.5~2_sparse_hide~9"
    assert [in_words(one, [StackNames("self", 3, tokens, tokens)]) for one in read_interventions(link)] == [
        "Layer 2, head 3 off",
        "Layer 1 uniform",
        "“cats” (2) hidden",
        "“cats” (2) hidden in layer 1, head 2",
        "“sleep” (3) ↛ “cats” (2)",
        "Temperature 0.5 in layer 2",
        "Sparse attention",
        "token 9 hidden",
    ]


def test_where_a_model_has_several_stacks_the_stack_is_named_and_its_own_layers_are_counted():
    text, written = ("the", "dog"), ("<s>", "der")
    stacks = [
        StackNames("self", 2, text, text),
        StackNames("decoder", 3, written, written),
        StackNames("cross", 3, written, text),
    ]
    link = "off~2-1_off~3-1_cut~2-2~5_cut~2-2~6-4_hide~2"
    assert [in_words(one, stacks) for one in read_interventions(link)] == [
        "Layer 2, head 1 (encoder) off",
        "Layer 1, head 1 (decoder) off",
        "“der” (2) ↛ “der” (2) in layer 3 (decoder)",
        "“der” (2) ↛ “dog” (2) in layer 1, head 4 (cross-attention)",
        "“dog” (2) hidden",
    ]
