"""Fitted attributes fit together, or a ValueError names the one that does not."""

import pickle
from collections import Counter
from copy import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from skmtc import HistoryTerms, MultitaskPlaylistRanker, OwnSongsRanker, PopularityRanker
from skmtc._utils.fitted_state import (
    Array,
    Each,
    IdArray,
    Index,
    Several,
    check_fitted_state,
    fitted_fields,
)
from skmtc.datasets import make_playlists
from skmtc.persistence import load, save
from skmtc.rankers.history import TERMS
from tests.test_estimator_checks import ESTIMATORS
from tests.test_ranker_checks import QUERIES, RANKERS, X_TRAIN

TRANSFORMERS = [e for e in ESTIMATORS if hasattr(e, "transform")]
OF_NUMBERS = ("BlockScaler", "CircularEncoder", "VectorEncoder")


@cache
def _fitted():
    """Fit every estimator once."""
    found = [clone(ranker).fit(X_TRAIN) for ranker in RANKERS]
    for encoder in TRANSFORMERS:
        of_numbers = type(encoder).__name__ in OF_NUMBERS
        columns = X_TRAIN[["x0", "x1"]].abs() if of_numbers else X_TRAIN[["artist", "song"]]
        found.append(clone(encoder).fit(columns))
    return found


each_estimator = pytest.mark.parametrize(
    "place",
    range(len(RANKERS) + len(TRANSFORMERS)),
    ids=lambda place: type([*RANKERS, *TRANSFORMERS][place]).__name__,
)


def _arrays(estimator):
    """Yield the name of each declared array, the array, its field, and a function to set it."""
    for name, field in fitted_fields(type(estimator)).items():
        value = vars(estimator).get(name)
        if value is None:
            continue
        if isinstance(field, Array):
            yield name, value, field, lambda new, name=name: {name: new}
        elif isinstance(field, Each) and isinstance(field.field, Array):
            if value[0] is not None:

                def of_column(new, name=name, value=value):
                    return {name: [new, *value[1:]]}

                yield f"{name}[0]", value[0], field.field, of_column
        elif isinstance(field, Several):
            for key, inner in field._pairs():
                if value[key] is not None and isinstance(inner, Array):

                    def of_key(new, name=name, value=value, key=key):
                        if isinstance(value, dict):
                            return {name: value | {key: new}}
                        return {name: (*value[:key], new, *value[key + 1 :])}

                    yield f"{name}[{key!r}]", value[key], inner, of_key


def _damaged(value, field, shared):
    """Yield wrong values in the place of an array; `shared` are dimensions of several arrays."""
    yield "no array"
    if value.shape[0] and field.dimensions[0] in shared:
        yield value[:-1]
    if "O" not in field.kinds:
        yield value.astype(bool if issparse(value) else object)
    if value.ndim == 2 and value.shape[1] and field.dimensions[1] in shared:
        yield value[:, :-1]
    if issparse(value):
        yield from _damaged_sparse(value, field, shared)
    elif value.dtype.kind == "f" and value.size and "O" not in field.kinds:
        wrong = value.copy()
        wrong.flat[-1] = np.nan
        yield wrong
    if isinstance(field, Index):
        yield value + len(value) + 1000
        yield value - 7
    if isinstance(field, IdArray) and len(value) > 1:
        yield np.repeat(value[:1], len(value))
        if field.ordered:
            yield value[::-1].copy()


def _damaged_sparse(value, field, shared):
    wide, beyond, backwards = value.copy(), value.copy(), value.copy()
    wide._shape = (value.shape[0], value.shape[1] + 5)
    beyond.indices[-1] = value.shape[1]
    backwards.indptr = backwards.indptr[::-1].copy()
    return [beyond, backwards, *([wide] if field.dimensions[1] in shared else [])]


@each_estimator
def test_every_fitted_attribute_is_declared(place):
    estimator = _fitted()[place]
    parameters = set(estimator.get_params(deep=False)) | set(estimator._derived)
    assert set(vars(estimator)) - parameters <= set(fitted_fields(type(estimator)))
    check_fitted_state(estimator)


@each_estimator
def test_damage_is_reported_by_the_name_of_the_attribute(place):
    estimator = _fitted()[place]
    named = Counter(d for _, _, field, _ in _arrays(estimator) for d in set(field.dimensions))
    shared = {d for d, times in named.items() if times > 1 or not isinstance(d, str)} - {None}
    for name, value, field, change in _arrays(estimator):
        for new in _damaged(value, field, shared):
            broken = copy(estimator)
            vars(broken).update(change(new))
            with pytest.raises(ValueError, match="The fitted attribute `") as reported:
                check_fitted_state(broken)
            # A dimension is named by the attribute that has it first, or by the one that differs.
            assert name.split("[")[0] in str(reported.value) or isinstance(field, IdArray)


@each_estimator
def test_a_missing_attribute_is_reported(place):
    estimator = _fitted()[place]
    required = [n for n, f in fitted_fields(type(estimator)).items() if not f.optional]
    if len(required) < 2:
        return
    for name in required:
        broken = copy(estimator)
        del vars(broken)[name]
        with pytest.raises(ValueError, match=f"`{name}` must be there; got nothing"):
            check_fitted_state(broken)


def test_pickles_and_files_are_checked(tmp_path):
    ranker = PopularityRanker().fit(X_TRAIN)
    ranker.popularity_ = ranker.popularity_[:-1]
    stored = pickle.dumps(ranker)
    with pytest.raises(ValueError, match="`popularity_` must have 55 songs, as `songs_` has"):
        pickle.loads(stored)
    save(ranker, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"must be a model .*`popularity_` must have 55 songs"):
        load(tmp_path / "model.skops")


def test_sparse_arrays_that_do_not_fit_the_catalogue_reach_no_compiled_loop(tmp_path):
    X = make_playlists(30, 120, 80, random_state=0).drop(columns="year")
    history = HistoryTerms(("co-occurrence",))
    ranker = MultitaskPlaylistRanker(history=history, tol=0.1, random_state=0).fit(X)
    ranker.history_.coef_[:] = 1.0
    n_songs, wide = len(ranker.songs_), 1_000_000
    columns = np.arange(wide - n_songs, wide, dtype=np.int32)  # beyond the catalogue
    places = columns, np.arange(n_songs + 1, dtype=np.int32)
    ones = np.ones(n_songs, dtype=np.float32)
    bad = csr_array((ones, *places), shape=(n_songs, wide))  # valid for itself
    ranker.history_.neighbors_ = (bad, bad)
    save(ranker, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"`neighbors_\[0\]` must have 79 songs"):
        load(tmp_path / "model.skops")


@pytest.mark.parametrize(
    "neighbors",
    [
        lambda good: csr_array((-good.data, good.indices, good.indptr), shape=good.shape),
        lambda good: good.astype(np.float64),  # of which some are 0 in single precision
    ],
)
def test_compiled_sums_see_positive_values_only(neighbors):
    X = make_playlists(10, 40, 30, random_state=0).drop(columns="year")
    history = MultitaskPlaylistRanker(history=TERMS, tol=0.1, random_state=0).fit(X).history_
    broken = copy(history)
    broken.neighbors_ = tuple(map(neighbors, history.neighbors_))
    with pytest.raises(ValueError, match="`neighbors_"):
        check_fitted_state(broken)


def test_what_scipy_remembers_of_an_array_is_not_believed():
    ranker = OwnSongsRanker().fit(X_TRAIN)
    counts = ranker.playcounts_.sorted_indices()
    counts.indices[:2] = counts.indices[:2][::-1].copy()
    counts._has_sorted_indices = counts._has_canonical_format = True
    ranker.playcounts_ = counts
    with pytest.raises(ValueError, match="`playcounts_` must have sorted"):
        check_fitted_state(ranker)
    ranker.playcounts_.dot = None
    with pytest.raises(ValueError, match="`playcounts_` must be a csr_array"):
        check_fitted_state(ranker)


@pytest.mark.parametrize("name", ["predict", "_fitted_state", "vectors_of_queries"])
def test_no_state_hides_a_method_or_a_declaration(name):
    ranker = PopularityRanker().fit(X_TRAIN)
    with pytest.raises(ValueError, match=f"`{name}` must not hide"):
        PopularityRanker().__setstate__(ranker.__getstate__() | {name: {}})


def test_what_is_derived_is_never_read_from_a_file():
    ranker = PopularityRanker().fit(X_TRAIN)
    again = PopularityRanker()
    again.__setstate__(ranker.__getstate__() | {"_reader": {"user": "wrong"}})
    np.testing.assert_array_equal(again.recommend(QUERIES)[0], ranker.recommend(QUERIES)[0])


def test_partial_fit_refuses_a_ranker_that_was_changed_by_hand():
    X = make_playlists(10, 30, 40, random_state=0).drop(columns="year")
    ranker = MultitaskPlaylistRanker(tol=0.1, random_state=0).fit(X)
    ranker.user_of_playlist_ = ranker.user_of_playlist_ + len(ranker.users_)
    before = vars(ranker).copy()
    with pytest.raises(ValueError, match="`user_of_playlist_` must be below 10"):
        ranker.partial_fit(X.assign(playlist="new" + X["playlist"]))
    assert vars(ranker) == before


def test_stacked_rankers_have_the_ids_of_the_stack():
    stack = copy(_fitted()[len(RANKERS) - 1])
    smaller = clone(stack.estimators_[0]).fit(X_TRAIN[X_TRAIN["song"] != stack.songs_[0]])
    stack.estimators_ = [smaller, *stack.estimators_[1:]]
    with pytest.raises(ValueError, match=r"`estimators_\[0\]` must have 55 songs"):
        check_fitted_state(stack)


def test_a_copy_is_not_checked_and_shares_arrays():
    ranker = PopularityRanker().fit(X_TRAIN)
    ranker.popularity_ = ranker.popularity_[:-1]
    assert copy(ranker).songs_ is ranker.songs_


def test_an_unfitted_estimator_passes():
    for estimator in ESTIMATORS:
        assert check_fitted_state(clone(estimator)).get("songs") is None


def test_ids_of_all_types_pass():
    X = pd.DataFrame({"user": [1.5, 2.5], "playlist": [True, False], "song": ["é", "z"]})
    X = X.assign(playlist=pd.to_datetime(["2011-01-02", "2010-01-01"]))
    check_fitted_state(PopularityRanker().fit(X))
