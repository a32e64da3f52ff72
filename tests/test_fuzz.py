"""Whatever the table: a result without NaN, or a ValueError or TypeError that says what to do.

The environment variable SKMTC_FUZZ_EXAMPLES sets how many cases each ranker gets, and draws
other ones each time, as does `pytest --attack`; there are few, and always the same, without it.
"""

import os
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzz_tables import fuzz_tables, parts_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skmtc import (
    CollocatedArtistRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
    evaluate,
)
from skmtc.features import make_song_features, make_user_features

N_EXAMPLES = int(os.environ.get("SKMTC_FUZZ_EXAMPLES", 10))
SLOWEST_SECONDS = 20.0  # of work; a machine that does other work, too, may take longer

ROLES = {"numeric": ["x0", "x1"], "artist": "artist", "song": "song"}
ROBUST = {
    "song_features": make_song_features(**ROLES, random_state=0),
    "user_features": make_user_features(numeric=["age"], categorical=None),
}
PLAIN = {"song_features": None, "user_features": "passthrough"}

RANKERS = {
    "CAGH": CollocatedArtistRanker(n_artists=2),
    "history": OwnSongsRanker(),
    "MF": MatrixFactorizationRanker(n_factors=2, n_iterations=2, random_state=0, **PLAIN),
    "MF robust": MatrixFactorizationRanker(
        n_factors=2, n_iterations=2, target="playlist", random_state=0, **ROBUST
    ),
    "multitask": MultitaskPlaylistRanker(max_iter=30, random_state=0, **PLAIN),
    "multitask robust": MultitaskPlaylistRanker(max_iter=30, random_state=0, **ROBUST),
    "multitask history": MultitaskPlaylistRanker(
        max_iter=30, history=("song", "artist", "co-occurrence"), random_state=0, **ROBUST
    ),
    "multitask owlqn": MultitaskPlaylistRanker(max_iter=20, solver="owlqn", **PLAIN),
    "pairwise": PairwiseRanker(n_epochs=2, random_state=0, **PLAIN),
    "popularity": PopularityRanker(),
    "ridge": RidgeRanker(**PLAIN),
    "ridge robust": RidgeRanker(**ROBUST),
    "SAGH": SameArtistRanker(n_artists=2),
    "stack": StackingRanker(
        [("popularity", PopularityRanker()), ("ridge", RidgeRanker(**PLAIN))], random_state=0
    ),
}

# Hypothesis' own deadline would measure a first call, which imports, by the same measure.
fuzz = settings(
    max_examples=N_EXAMPLES,
    deadline=None,
    derandomize="SKMTC_FUZZ_EXAMPLES" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def _check_is_reported(error):
    """Check that somebody thought of the error: it is raised here or by scikit-learn."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert {"skmtc", "sklearn"} & set(Path(last.filename).parts), error


def _attempt(call, *args, **parameters):
    """Return what a call gives; None after an error of the kinds that are allowed."""
    start, start_of_work = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows are left out, or a solver is not done
        try:
            return call(*args, **parameters)
        except (ValueError, TypeError) as error:
            _check_is_reported(error)
            return None
        finally:
            assert time.process_time() - start_of_work < SLOWEST_SECONDS
            assert time.monotonic() - start < 10 * SLOWEST_SECONDS


def _candidates(ranker, X):
    new = X[[c for c in X.columns if c not in ("user", "playlist", "age")]]
    known = st.lists(st.sampled_from(ranker.songs_.tolist()), max_size=3)
    tables = parts_of(new).map(lambda rows: rows.head(2))
    return st.one_of(st.none(), st.none(), known, tables, st.just([]), st.just({1}))


def _check_predict(ranker, rows):
    scores = _attempt(ranker.predict, rows)
    if scores is not None:
        assert scores.shape == (len(rows),)
        assert not np.isnan(scores).any()


def _check_recommend(ranker, rows, k, candidates, sample):
    given = _attempt(
        ranker.recommend,
        rows,
        n_recommendations=k,
        candidates=candidates,
        sample=sample,
        random_state=0,
    )
    if given is not None:
        songs, scores = given
        assert songs.shape == scores.shape == (len(rows), k)
        assert not np.isnan(scores).any()
        assert all(len(set(row)) == k for row in songs.tolist())


@pytest.mark.parametrize("name", RANKERS)
@fuzz
@given(data=st.data())
def test_no_table_gives_nan_or_another_error(name, data):
    X = data.draw(fuzz_tables())
    ranker = clone(RANKERS[name])
    if _attempt(ranker.fit, X) is None:
        assert not [key for key in vars(ranker) if key.endswith("_")]  # as before fit
        return
    _check_predict(ranker, data.draw(parts_of(X)))
    k, sample = data.draw(st.integers(0, 14)), data.draw(st.booleans())
    _check_recommend(ranker, data.draw(parts_of(X)), k, data.draw(_candidates(ranker, X)), sample)
    score = _attempt(ranker.score, X)
    assert score is None or 0.0 <= score <= 1.0
    table = _attempt(evaluate, ranker, data.draw(parts_of(X)), ["auc", "hit_rate@2"])
    assert table is None or table["auc"].dropna().between(0.0, 1.0).all()
    if len(ranker.users_):
        _attempt(ranker.forget, ranker.users_[: data.draw(st.integers(0, 2))])
        _check_predict(ranker, X)
