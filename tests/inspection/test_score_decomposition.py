"""The weights of a query fall into parts that are those of the ranker."""

import numpy as np
import pytest
from cold_rows import COLD_ROWS, COUNTRIES, NUMBERS, X_TRAIN
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skmtc import MultitaskPlaylistRanker, PairwiseRanker, PopularityRanker
from skmtc.inspection import explain
from skmtc.inspection._score_decomposition import (
    check_has_weights,
    last_step,
    score_parts,
    weights_of,
)

FITTED = MultitaskPlaylistRanker(
    playlist_l1=0.1, song_features=NUMBERS, user_features=COUNTRIES, n_neighbors=1
).fit(X_TRAIN)


def _weights(rows):
    queries = FITTED.reader.queries(rows)
    return queries, weights_of(FITTED, queries)


def test_the_weights_of_a_known_playlist_are_its_coefficients():
    queries, weights = _weights(COLD_ROWS["nothing"])
    assert abs(FITTED.playlist_coef_).max() > 0
    np.testing.assert_array_equal(
        weights["shared"], np.tile(FITTED.shared_coef_, (len(queries), 1))
    )
    np.testing.assert_allclose(weights["user"], FITTED.user_coef_[queries.users], atol=1e-12)
    own = FITTED.playlist_coef_[queries.playlists]
    np.testing.assert_allclose(weights["playlist"], own, atol=1e-12)


def test_a_new_playlist_has_no_weights_of_its_own():
    queries, weights = _weights(COLD_ROWS["playlist"])
    assert (weights["playlist"] == 0).all()
    np.testing.assert_allclose(weights["user"], FITTED.user_coef_[queries.users], atol=1e-12)


def test_a_new_user_has_the_mean_weights_of_similar_ones():
    rows = COLD_ROWS["user"]
    _, weights = _weights(rows)
    of_user = X_TRAIN.groupby("user")["country"].first()[FITTED.users_]
    country = rows["country"].iloc[0]
    alike = np.flatnonzero(of_user == country)
    assert 1 <= len(alike) < len(of_user)  # all of the country count, being equally similar
    np.testing.assert_allclose(weights["user"][0], FITTED.user_coef_[alike].mean(axis=0))


def test_a_user_like_nobody_has_the_shared_weights_only():
    _, weights = _weights(COLD_ROWS["user like nobody"])
    assert (weights["user"] == 0).all()
    assert (weights["playlist"] == 0).all()


def test_parts_are_products_of_weights_and_features():
    rows = COLD_ROWS["song"]
    parts = {part.name: part for part in score_parts(FITTED, rows)}
    assert list(parts) == ["shared", "user", "playlist"]
    features = np.column_stack([rows[["x0", "x1", "x2"]], np.ones(len(rows))])
    some = np.array([4, 1])
    expected = FITTED.shared_coef_ * features[some]
    np.testing.assert_allclose(parts["shared"].of_rows(some), expected)


def test_rankers_without_weights_of_features_are_refused():
    with pytest.raises(TypeError, match="got PopularityRanker"):
        check_has_weights(PopularityRanker().fit(X_TRAIN))
    with pytest.raises(NotFittedError):
        check_has_weights(MultitaskPlaylistRanker())


def test_the_ranker_is_found_in_pipelines_and_searches():
    ranker = PairwiseRanker(n_epochs=1, song_features=NUMBERS, random_state=0)
    search = GridSearchCV(make_pipeline("passthrough", ranker), {}, cv=2)
    assert last_step(search) is search  # not fitted, it has no best ranker yet
    fitted = search.fit(X_TRAIN)
    assert isinstance(last_step(fitted), PairwiseRanker)
    assert last_step(fitted) is fitted.best_estimator_[-1]


def test_history_is_a_part_of_its_own():
    terms = ("song", "co-occurrence")
    ranker = MultitaskPlaylistRanker(
        history=terms, song_features=NUMBERS, user_features=COUNTRIES, n_neighbors=1, random_state=0
    ).fit(X_TRAIN)
    for rows in COLD_ROWS.values():
        contributions = explain(ranker, rows)
        np.testing.assert_allclose(contributions.sum(axis=1), ranker.predict(rows), atol=1e-9)
        assert contributions["history"].columns.tolist() == list(terms)
    added = explain(ranker, X_TRAIN)["history"]
    assert (added.abs().max() > 0).any()
    assert explain(ranker, X_TRAIN, top=2).shape[1] > 0
