"""Shapes and masks of an encoder-decoder: those of the notebook, and what each mask hides."""

from dataclasses import replace

import numpy as np

from tests.support.torch_weights import SMALL_SEQ2SEQ
from tx_core.lessons.seq2seq_shapes import BatchSizes, run_shapes
from tx_core.transformer.seq2seq import Seq2Seq

CONFIG = replace(SMALL_SEQ2SEQ, num_layers=3, num_heads=2)


def test_every_axis_has_the_size_that_its_word_says():
    run = run_shapes(CONFIG, BatchSizes(batch=5, source=7, target=4))
    sizes = {"batch": 5, "source": 7, "target": 4, "head": 2, "head_dim": 6, "hidden": 12, "vocab": 11}
    assert [one.shape for one in run.shapes] == [tuple(sizes[axis] for axis in one.axes) for one in run.shapes]
    assert run.shapes[-1].shape == (5, 4, 11)


def test_padding_of_the_source_is_hidden_twice_and_the_target_may_not_look_ahead():
    run = run_shapes(CONFIG, BatchSizes(batch=2, source=4, target=3, source_padding=1, target_padding=1))
    np.testing.assert_array_equal(run.encoder_mask, [[1, 1, 1, 0]] * 4)
    np.testing.assert_array_equal(run.cross_mask, [[1, 1, 1, 0]] * 3)
    np.testing.assert_array_equal(run.decoder_mask, [[1, 0, 0], [1, 1, 0], [1, 1, 0]])


def test_parameters_are_counted_as_if_all_layers_were_there():
    expected = sum(parameter.numel() for parameter in Seq2Seq(CONFIG).parameters())
    assert run_shapes(CONFIG, BatchSizes(batch=1, source=2, target=3)).parameters == expected
