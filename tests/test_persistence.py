"""Models in files: the same model comes back, and nothing else comes in."""

import functools
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from damage import damaged
from hypothesis import given, settings
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features, make_user_features
from skmtc.persistence import load, save, trusted_types
from tests.test_estimator_checks import ESTIMATORS
from tests.test_ranker_checks import QUERIES, RANKERS, X_ALL, X_TRAIN

PAPER = MultitaskPlaylistRanker(
    song_features=make_song_features(X_ALL, random_state=0),
    user_features=make_user_features(X_ALL),
)
TRANSFORMERS = [e for e in ESTIMATORS if hasattr(e, "transform")]
POPULARITY = PopularityRanker().fit(X_TRAIN)


def _round_trip(model, folder):
    save(model, folder / "model.skops")
    return load(folder / "model.skops")


def _check_same_parameters(one, other):
    assert repr(one) == repr(other)
    assert repr(one.get_params()) == repr(other.get_params())


@pytest.mark.parametrize("ranker", [*RANKERS, PAPER], ids=lambda r: type(r).__name__)
def test_rankers_come_back(ranker, tmp_path):
    ranker = clone(ranker).fit(X_TRAIN)
    again = _round_trip(ranker, tmp_path)
    _check_same_parameters(again, ranker)
    derived = {"_reader", "_catalogue_cache", "_score_spreads"}  # made again where they are needed
    assert set(vars(again)) - derived == set(vars(ranker)) - derived
    np.testing.assert_array_equal(again.predict(X_ALL), ranker.predict(X_ALL))
    for ours, theirs in zip(again.recommend(QUERIES), ranker.recommend(QUERIES), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_transformers_come_back(transformer, tmp_path):
    of_numbers = type(transformer).__name__ in ("BlockScaler", "CircularEncoder", "VectorEncoder")
    X = X_TRAIN[["x0"]].abs() if of_numbers else X_TRAIN[["artist"]]
    transformer = clone(transformer).fit(X)
    again = _round_trip(transformer, tmp_path)
    _check_same_parameters(again, transformer)
    both = (t.transform(X) for t in (again, transformer))
    np.testing.assert_array_equal(*(m.toarray() if issparse(m) else m for m in both))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_unfitted_estimators_come_back(estimator, tmp_path):
    _check_same_parameters(_round_trip(estimator, tmp_path), estimator)


@pytest.mark.parametrize("ids", ["str", "int64", "float64", "category", "Int64"])
def test_ids_of_all_types_come_back(ids, tmp_path):
    X = make_playlists(random_state=0)
    for label in ("user", "playlist", "song"):
        X[label] = X[label].astype("category").cat.codes.astype("int64").astype(ids)
    ranker = PopularityRanker().fit(X)
    again = _round_trip(ranker, tmp_path)
    assert again.songs_.dtype == ranker.songs_.dtype
    np.testing.assert_array_equal(again.songs_, ranker.songs_)
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


def test_nothing_but_listed_types_is_in_a_file(tmp_path):
    save(clone(PAPER).fit(X_TRAIN), tmp_path / "model.skops")
    held = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert set(held) <= set(trusted_types())
    own = [name for name in trusted_types() if name.startswith("skmtc.")]
    assert len(own) >= len({type(e) for e in ESTIMATORS})
    others = set(trusted_types()) - set(own)
    assert {name.split(".")[0] for name in others} == {"numpy", "scipy", "sklearn"}
    assert len(others) == 4


def test_a_pipeline_comes_back(tmp_path):
    pipeline = make_pipeline(StandardScaler(), MultitaskPlaylistRanker(tol=0.1))
    _check_same_parameters(_round_trip(pipeline, tmp_path), pipeline)


def _half(values):
    return values / 2


@pytest.mark.parametrize(
    "function", [lambda values: values, functools.partial(np.clip, a_min=0, a_max=1), _half]
)
def test_functions_are_not_stored(function, tmp_path):
    ranker = MultitaskPlaylistRanker(song_features=FunctionTransformer(function))
    with pytest.raises(TypeError, match=r"must hold plain data .*; got .*Replace"):
        save(ranker, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_only_estimators_are_stored(tmp_path):
    with pytest.raises(TypeError, match="must be a scikit-learn estimator; got dict"):
        save({}, tmp_path / "model.skops")
    skops.io.dump([1, 2], tmp_path / "list.skops")
    with pytest.raises(ValueError, match=r"must be a model .*; got a list"):
        load(tmp_path / "list.skops")


def test_foreign_types_are_not_loaded(tmp_path):
    skops.io.dump(FunctionTransformer(functools.partial(print, "hello")), tmp_path / "f.skops")
    with pytest.raises(TypeError, match=r"must hold plain data .*; got .*partial.* Do not load"):
        load(tmp_path / "f.skops")


def test_pickles_and_other_archives_are_refused(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(POPULARITY))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme", "no model")
    for name in ("model.pkl", "other.zip"):
        with pytest.raises(ValueError, match=r"must be a model stored by .*; got a file"):
            load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.skops")


@settings(max_examples=60)
@given(content=damaged(skops.io.dumps(POPULARITY)))
def test_damaged_files_are_refused_or_harmless(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "model.skops"
    path.write_bytes(content)
    try:
        model = load(path)
    except (ValueError, TypeError) as error:
        if "must" not in str(error):
            raise
    else:  # a byte that nobody reads
        np.testing.assert_array_equal(model.predict(X_ALL), POPULARITY.predict(X_ALL))


def test_a_wrong_index_in_a_sparse_array_is_refused(tmp_path):
    ranker = PopularityRanker().fit(X_TRAIN)
    ranker.membership_.indices[0] = 10**6
    save(ranker, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="must be a model"):
        load(tmp_path / "model.skops")


def test_saving_replaces_the_file_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(POPULARITY, path)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", functools.partial(_raise, OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(PopularityRanker(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def _raise(error, *_):
    raise error
