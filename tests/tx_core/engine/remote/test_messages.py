"""What travels to the models and back is records and arrays, whole, and nothing else."""

import json
import os
import pickle
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.support.checkpoints import write_family
from tx_core.corpus.batches import label_batch
from tx_core.engine import catalogue
from tx_core.engine.remote import messages
from tx_core.engine.remote.messages import Request, read_message, write_message
from tx_core.engine.threads import BUSY
from tx_core.errors import Busy, ChangeProblem, TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

TEXT, BLANKS = "The old cat sat on the mat", "The ___ sat on a ___, naïve \ud800 “half”"
NUMBERS = st.one_of(
    arrays.boolean_dtypes(), arrays.integer_dtypes(endianness="<"), arrays.floating_dtypes(endianness="<", sizes=(16, 32, 64))
)


def exact(value: object) -> object:
    """Return a value so that == compares it to the last bit, and each part with its type."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if is_dataclass(value):
        return type(value), [exact(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple):
        return tuple(map(exact, value))
    if isinstance(value, dict):
        return {name: exact(one) for name, one in value.items()}
    return type(value), value


def names_within(value: object) -> set[str]:
    if is_dataclass(value):
        own = {type(value).__name__}
        return own.union(*(names_within(getattr(value, field.name)) for field in fields(value)))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return set().union(*map(names_within, parts))


@given(arrays.arrays(NUMBERS, arrays.array_shapes(min_dims=0, min_side=0, max_side=5)), st.booleans())
def test_arrays_travel_bit_by_bit_whatever_their_type_shape_and_order(array: np.ndarray, transposed: bool):
    array = array.T if transposed else array
    assert exact(read_message(write_message((array, "text", array)))) == exact((array, "text", array))


def test_every_record_of_the_table_travels_whole(tmp_path: Path):
    engine = catalogue.load(catalogue.DEFAULT)
    changes = (Intervention("off", 1, 2), Intervention("temperature", 2, value=0.1), Intervention("cut", positions=(1, 4)))
    rows = (engine.encode(TEXT), engine.encode("Tea."), engine.encode("A ___."))
    measure = label_batch(rows)
    sent = (
        engine.trace(TEXT, "and slept", keep=ALL_PARTS, interventions=changes),
        catalogue.load_directory(write_family("t5", tmp_path), "t5", "T5").trace(TEXT, "and slept"),
        engine.blank_logits(rows, interventions=(changes[:1], (), ())),
        engine.gradients(rows[2], engine.embed(rows[2].ids)[None], 2, 2000),
        Request("over_weights", "embedded", False, {"rows": rows, "measure": measure, "half": False}, 0.1, True),
        engine.over_weights(rows, measure),
        {"vectors": {"patch": engine.vectors(rows[2])}},
        {"info": engine.info, "tokenizer": engine.tokenizer.to_json()},
    )
    assert names_within(sent) == set(messages._MODULES)
    assert exact(read_message(write_message(sent))) == exact(sent)
    assert read_message(write_message({"text": BLANKS, "value": -0.0})) == {"text": BLANKS, "value": 0}


@pytest.mark.parametrize(
    "problem", [TextProblem("shorten it"), ChangeProblem("no layer"), Busy(BUSY), ValueError("keep")], ids=repr
)
def test_an_error_arrives_with_its_class_and_its_words(problem: Exception):
    there = read_message(write_message(problem))
    assert (type(there), str(there)) == (type(problem), str(problem))


def forged(**description: object) -> bytes:
    return json.dumps(description).encode() + b"\n" + bytes(64)


def array(**changes: object) -> bytes:
    return forged(**{"class": "array", "dtype": "<f4", "shape": [4], "bytes": [0, 16]} | changes)


SECRET = "words of a visitor"
HOSTILE = {
    "a function": forged(**{"class": "os.system", "command": SECRET}),
    "a class of the core that is no record": forged(**{"class": "HubReach"}),
    "a name that is none": forged(**{"class": ["Trace"], "model": SECRET}),
    "fields that a record lacks": forged(**{"class": "Trace", "model": "m", "device": "cpu", "stacks": [], SECRET: 1}),
    "a record that its class refuses": forged(**{"class": "Intervention", "kind": "off", "layer": -1}),
    "objects": array(dtype="|O"),
    "Python in place of a type": array(dtype=f"__import__('os').system('{SECRET}')"),
    "many numbers": array(shape=[10**15], bytes=[0, 4 * 10**15]),
    "more numbers than can be counted": array(shape=[2**32, 2**32], bytes=[0, 0]),
    "numbers before the data": array(bytes=[-8, 64]),
    "numbers after the data": array(bytes=[56, 72]),
    "half a number": array(bytes=[0, 15]),
    "what is too deep": b"[" * 100_000 + b"\n",
    "a pickle": pickle.dumps(os.system),
    "nothing": b"",
}


@pytest.mark.parametrize("message", HOSTILE.values(), ids=HOSTILE)
def test_a_forged_message_is_refused_and_nothing_of_it_is_quoted(message: bytes):
    np.testing.assert_array_equal(read_message(array()), np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="message is damaged") as raised:
        read_message(message)
    assert SECRET not in str(raised.value) and raised.value.__suppress_context__


@pytest.mark.parametrize(
    "value",
    [print, lambda layers: layers, torch.zeros(3), {1, 2}, Path(), np.array([None]), np.array(["text"]), TextProblem, st.data()],
    ids=["a function", "another", "a tensor", "a set", "a path", "objects", "texts", "a class", "a record of others"],
)
def test_nothing_else_can_be_sent(value: object):
    with pytest.raises(ValueError, match="records of the table and arrays"):
        write_message({"value": value})
