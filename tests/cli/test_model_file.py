"""Files of models."""

import pickle
import sys

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.cli import _model_file
from skmtc.cli._model_file import read_model, write_model
from skmtc.cli.inputs._feature_options import Features
from skmtc.cli.inputs._ranker_choice import RANKERS, make_ranker
from skmtc.cli.inputs._read_table import open_table
from skmtc.datasets import make_playlists

X = make_playlists(20, 60, 40, random_state=0)
FITTED = PopularityRanker().fit(X)


@pytest.mark.parametrize("name", ["model.skops", "model.pkl", "model"])
def test_what_is_written_is_read(tmp_path, name):
    write_model(FITTED, tmp_path / name)
    again = read_model(tmp_path / name, trust=name.endswith("pkl"))
    np.testing.assert_array_equal(again.predict(X), FITTED.predict(X))


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_of_the_command_is_stored_without_pickle(name, folder, tmp_path):
    path = str(folder / "playlists.csv")
    table = open_table(path, user="user", playlist="playlist", song="song")
    chosen = {"tol": 0.1} if name == "multitask" else {}
    ranker = make_ranker(name, table, Features.of(table, 0), parameters=chosen).fit(table.X)
    write_model(ranker, tmp_path / "model.skops")
    again = read_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(table.X), ranker.predict(table.X))


def _shout(values):
    return values


def test_strange_types_are_neither_written_nor_read(tmp_path):
    ranker = MultitaskPlaylistRanker(song_features=FunctionTransformer(_shout))
    with pytest.raises(ValueError, match=r"got \['.*_shout'\].* let the name end in \.pkl"):
        write_model(ranker, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
    skops.io.dump(ranker, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"got \['.*_shout'\]. Do not load it"):
        read_model(tmp_path / "model.skops")


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(FileNotFoundError):
        read_model(path)
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(ValueError, match=r"must be a model stored by .*; got a file that is torn"):
        read_model(path)
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match="which is a pickle or no model at all"):
        read_model(path)
    with pytest.raises(ValueError, match="is no pickle that can be read here"):
        read_model(path, trust=True)
    path.write_bytes(skops.io.dumps(LinearRegression()))
    with pytest.raises(ValueError, match="A model must be a ranker; got LinearRegression"):
        read_model(path)


def test_a_skops_file_needs_skops(tmp_path, monkeypatch):
    write_model(FITTED, tmp_path / "model.skops")
    monkeypatch.setattr(_model_file, "find_spec", lambda _: None)
    write_model(FITTED, tmp_path / "other")
    assert isinstance(pickle.loads((tmp_path / "other").read_bytes()), PopularityRanker)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ValueError, match="needs skops, which is not installed"):
        read_model(tmp_path / "model.skops")
