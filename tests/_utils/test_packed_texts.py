"""Arrays of texts in files of models: small there, and the same again when they are read."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from skmtc import PopularityRanker
from skmtc._utils.packed_texts import BYTES, LENGTHS, pack_state, packed_texts, unpack_state
from skmtc.persistence import load, save

TEXTS = np.array(["", "ana", None, "Björk", "日本語", "half \ud800 pair", "a\0b"], dtype=object)


def _pack(state):
    with packed_texts():
        return pack_state(state)


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:0], TEXTS[2:3]], ids=["many", "none", "missing"])
def test_texts_come_back(texts):
    state = {"ids_": texts, "columns_": [texts, texts[::-1]], "n_": 3}
    packed = _pack(state)
    assert set(packed["ids_"]) == {BYTES, LENGTHS}
    again = unpack_state(packed)
    assert again["n_"] == 3
    for name in ("ids_", "columns_"):
        for ours, theirs in zip(np.atleast_2d(again[name]), np.atleast_2d(texts), strict=False):
            assert ours.dtype == object
            assert ours.tolist() == theirs.tolist()
    assert again["columns_"][1].tolist() == texts[::-1].tolist()


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, "two"], dtype=object),
        np.array([np.str_("text")], dtype=object),
        np.array([["a", "b"]], dtype=object),
        np.array([np.nan, "text"], dtype=object),
        np.array(["text"]),
        ("text",),
    ],
    ids=["mixed", "numpy", "table", "nan", "fixed", "tuple"],
)
def test_what_is_no_array_of_texts_stays(value):
    assert _pack({"x": value})["x"] is value


def test_texts_are_packed_for_files_only():
    assert pack_state({"ids_": TEXTS})["ids_"] is TEXTS


@pytest.mark.parametrize(
    ("joined", "lengths"),
    [
        (np.zeros(3, np.uint8), np.array([1, 1])),
        (np.zeros(3, np.uint8), np.array([4, -1])),
        (np.zeros(3, np.uint8), np.array([5, -2])),
        (np.zeros(3, np.uint8), np.array([2**62, 2**62, 2**62, 2**62, 3])),
        (np.zeros(3), np.array([3])),
        (np.zeros(3, np.uint8), np.array([3.0])),
        (np.zeros((3, 1), np.uint8), np.array([3])),
        (b"abc", np.array([3])),
    ],
)
def test_damaged_texts_are_refused(joined, lengths):
    with pytest.raises(ValueError, match="the packed texts of `ids_` must have bytes for all"):
        unpack_state({"ids_": {BYTES: joined, LENGTHS: lengths}})


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ValueError, match="utf-8"):
        unpack_state({"ids_": {BYTES: np.array([255], np.uint8), LENGTHS: np.array([1])}})


def test_a_file_does_not_spell_out_ids(tmp_path):
    sizes = []
    for n_songs in (20, 2000):
        songs = [f"song {i:05d}" for i in range(n_songs)]
        X = pd.DataFrame({"user": "ana", "playlist": np.arange(n_songs) % 10, "song": songs})
        X["playlist"] = X["playlist"].astype(str)
        path = tmp_path / "model.skops"
        ranker = PopularityRanker().fit(X)
        save(ranker, path)
        again = load(path)
        assert again.songs_.tolist() == songs
        assert again.songs_.dtype == ranker.songs_.dtype
        with zipfile.ZipFile(path) as archive:
            sizes.append(len(json.dumps(json.loads(archive.read("schema.json")))))
    assert sizes[1] < sizes[0] + 1000
