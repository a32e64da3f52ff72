"""Files of models."""

import pickle

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.cli import _model_file
from skmtc.cli._model_file import read_model, write_model
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features, make_user_features


@pytest.fixture(scope="module")
def fitted():
    X = make_playlists(20, 60, 40, random_state=0)
    features = {
        "song_features": make_song_features(X, random_state=0),
        "user_features": make_user_features(X),
    }
    return X, MultitaskPlaylistRanker(tol=0.1, **features).fit(X)


@pytest.mark.parametrize("name", ["model.skops", "model.pkl", "model"])
def test_what_is_written_is_read(fitted, tmp_path, name):
    X, ranker = fitted
    write_model(ranker, tmp_path / name)
    again = read_model(tmp_path / name, trust=name.endswith("pkl"))
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


def _shout(X):
    return X


def test_strange_types_are_refused(fitted, tmp_path):
    X, _ = fitted
    features = make_song_features(X, numeric=None, artist=None, random_state=0)
    features.transformers.append(("strange", FunctionTransformer(_shout), ["x0"]))
    ranker = MultitaskPlaylistRanker(song_features=features, tol=0.1).fit(X)
    write_model(ranker, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"made of this package's .*; got \['.*_shout'\]"):
        read_model(tmp_path / "model.skops")


def test_functions_of_this_package_are_not_trusted():
    trusted = _model_file._is_trusted
    assert trusted("skmtc.rankers._multitask.MultitaskPlaylistRanker")
    assert not trusted("skmtc.cli._main.main")
    assert not trusted("skmtc.absent.Ranker")
    assert not trusted("skmtcs.Ranker")
    assert not trusted("os.system")


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(FileNotFoundError):
        read_model(path)
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(ValueError, match="is no whole model of this version"):
        read_model(path)
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match="which is a pickle or no model at all"):
        read_model(path)
    with pytest.raises(ValueError, match="is no pickle that can be read here"):
        read_model(path, trust=True)
    path.write_bytes(skops.io.dumps(LinearRegression()))
    with pytest.raises(ValueError, match="A model must be a ranker; got LinearRegression"):
        read_model(path)


def test_what_skops_cannot_store_is_told(tmp_path, monkeypatch):
    def refuse(_):
        raise TypeError("no default __reduce__")

    ranker = PopularityRanker()
    monkeypatch.setattr(skops.io, "dumps", refuse)
    with pytest.raises(ValueError, match=r"PopularityRanker cannot be stored by skops .* \.pkl"):
        write_model(ranker, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_a_skops_file_needs_skops(fitted, tmp_path, monkeypatch):
    write_model(fitted[1], tmp_path / "model.skops")
    monkeypatch.setattr(_model_file, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match="needs skops, which is not installed"):
        read_model(tmp_path / "model.skops")
    write_model(fitted[1], tmp_path / "other")
    assert isinstance(pickle.loads((tmp_path / "other").read_bytes()), MultitaskPlaylistRanker)
