"""StackingRanker."""

import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_html_repr

from skmtc import (
    MultitaskPlaylistRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
    evaluate,
)
from skmtc.datasets import make_playlists
from skmtc.inspection import explain
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit
from skmtc.rankers._base_ranker import BaseRanker
from skmtc.rankers.stacking import ScoreSpread
from skmtc.rankers.stacking._situations import WHO

X = make_playlists(80, 400, 300, 40, n_features=4, random_state=0)
SONG_COLUMNS = ["song", "artist", "year", "x0", "x1", "x2", "x3"]
FEATURES = make_column_transformer(("passthrough", ["x0", "x1", "x2", "x3"]))
MULTITASK = MultitaskPlaylistRanker(
    song_features=FEATURES, history=("song", "artist"), tol=1e-2, random_state=0
)
PARTS = [("popularity", PopularityRanker()), ("multitask", MULTITASK)]


def split(splitter):
    train, test = next(iter(splitter.split(X)))
    return X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True)


class RandomRanker(BaseRanker):
    """Score songs by nothing but chance."""

    def __init__(self, *, user="user", playlist="playlist", song="song"):
        self.user = user
        self.playlist = playlist
        self.song = song

    def _fit(self, table, frame):
        pass

    def vectors_of_queries(self, queries):
        """Return the same vector for all."""
        return np.ones((len(queries), 1))

    def vectors_of_songs(self, songs):
        """Return a random number for each song."""
        seeds = [zlib.crc32(str(song).encode()) for song in songs.ids]
        return np.array([np.random.default_rng(seed).standard_normal(1) for seed in seeds])


@pytest.fixture(scope="module")
def stack():
    train, _ = split(ColdSongSplit(released=None, random_state=0))
    return StackingRanker(PARTS, random_state=0).fit(train)


def test_scores_are_weighted_sums_of_standardised_scores(stack):
    new_songs = X[~X["song"].isin(stack.songs_)].drop_duplicates("song")
    some = pd.concat([X[X["song"].isin(stack.songs_)].drop_duplicates("song").head(30), new_songs])
    askers = {
        "known playlist": {"user": X["user"][0], "playlist": X["playlist"][0]},
        "new playlist": {"user": X["user"][0], "playlist": "mine"},
        "new user": {"user": "me", "playlist": "mine"},
    }
    for who, ids in askers.items():
        rows = some[SONG_COLUMNS].assign(**ids)[[*ids, *SONG_COLUMNS]]
        rows = rows.reindex(columns=X.columns)
        expected = np.zeros(len(rows))
        for k, ranker in enumerate(stack.estimators_):
            own = ranker.vectors_of_queries(ranker.reader.queries(rows.head(1)))
            spread = 1 / ScoreSpread(ranker).inverse(own)[0]
            weights = stack.coef_[:, WHO.index(who), k]
            is_new = ~rows["song"].isin(stack.songs_)
            expected += weights[is_new.to_numpy().astype(int)] * ranker.predict(rows) / spread
        np.testing.assert_allclose(stack.predict(rows), expected, rtol=1e-6, atol=1e-8)


def test_public_vectors_make_the_same_scores(stack):
    queries = X.drop_duplicates("playlist").head(5).drop(columns=SONG_COLUMNS)
    songs = X.drop_duplicates("song")[SONG_COLUMNS]
    products = (stack.query_vectors(queries) @ stack.song_vectors(songs).T).toarray()
    pairs = queries.merge(songs, how="cross")[X.columns]
    scores = stack.predict(pairs).reshape(products.shape)
    np.testing.assert_allclose(products, scores, rtol=1e-6, atol=1e-8)


def test_known_and_new_candidates_together_are_scored_as_apart(stack):
    queries = X.drop_duplicates("user").head(4)[["user", "playlist"]]
    songs = X.drop_duplicates("song")[SONG_COLUMNS]
    best, scores = stack.recommend(
        queries, candidates=songs, n_recommendations=20, exclude_seen=False
    )
    pairs = queries.merge(songs, how="cross").reindex(columns=X.columns)
    predicted = stack.predict(pairs).reshape(len(queries), len(songs))
    np.testing.assert_allclose(scores, -np.sort(-predicted, axis=1)[:, :20], rtol=1e-5)
    assert best.shape == (4, 20)


def test_weights_are_a_table_of_situations(stack):
    assert stack.weights_.shape == (6, 2)
    assert stack.weights_.columns.tolist() == ["popularity", "multitask"]
    np.testing.assert_allclose(stack.weights_.sum(axis=1), 1)
    assert (stack.coef_ >= 0).all()
    new_songs = stack.weights_.loc[("known playlist", "new songs")]
    assert new_songs["multitask"] > 0.9  # popularity says nothing of new songs
    assert stack.n_held_out_.shape == (2, 3)


@pytest.mark.parametrize(
    "splitter",
    [
        ColdPlaylistSplit(random_state=0),
        ColdUserSplit(random_state=0),
        ColdSongSplit(released=None, random_state=0),
    ],
    ids=lambda s: s.setting,
)
def test_never_far_below_its_best_part(splitter):
    train, test = split(splitter)
    stack = StackingRanker([*PARTS, ("chance", RandomRanker())], random_state=0).fit(train)
    auc = evaluate(stack, test, "auc")["auc"].mean()
    parts = [evaluate(ranker, test, "auc")["auc"].mean() for ranker in stack.estimators_]
    assert auc > max(parts) - 0.01


def test_a_useless_ranker_gets_no_weight():
    stack = StackingRanker([*PARTS, ("chance", RandomRanker())], random_state=0).fit(X)
    assert (stack.weights_["chance"] < 0.2).all()
    assert (stack.weights_["chance"] == 0).mean() > 0.6


def test_the_order_of_rankers_changes_nothing():
    train, test = split(ColdPlaylistSplit(random_state=0))
    one = StackingRanker(PARTS, random_state=0).fit(train)
    other = StackingRanker(PARTS[::-1], random_state=0).fit(train)
    np.testing.assert_allclose(one.weights_, other.weights_[one.names_], atol=1e-3)
    np.testing.assert_allclose(one.predict(test), other.predict(test), atol=1e-2)


class Recorder(TransformerMixin, BaseEstimator):
    """Pass features on, and remember how many memberships each fit has seen."""

    seen = []

    def fit(self, _, y=None):
        """Remember."""
        Recorder.seen.append(y.nnz)
        return self

    def transform(self, X):
        """Pass the numbers on."""
        return X[["x0", "x1"]].to_numpy()


def test_held_out_rows_reach_no_features():
    Recorder.seen.clear()
    parts = [("ridge", RidgeRanker(song_features=Recorder())), ("popularity", PopularityRanker())]
    stack = StackingRanker(parts, random_state=0).fit(X)
    n_rows = len(X.drop_duplicates(["playlist", "song"]))
    assert Recorder.seen[-1] == stack.membership_.nnz == n_rows
    assert len(Recorder.seen) == 2
    assert Recorder.seen[0] < 0.9 * n_rows


def test_parameters_of_rankers_are_reached_by_name():
    stack = StackingRanker(PARTS, random_state=0)
    assert stack.get_params()["multitask__user_l2"] == MULTITASK.user_l2
    copied = clone(stack).set_params(multitask__user_l2=5.0, popularity="drop")
    assert dict(copied.estimators)["multitask"].user_l2 == 5.0
    assert dict(stack.estimators)["multitask"].user_l2 == MULTITASK.user_l2
    assert copied.fit(X).names_ == ["multitask"]
    grid = {"popularity": [PopularityRanker(), "drop"]}
    cv = ColdPlaylistSplit(random_state=0)
    search = GridSearchCV(stack, grid, cv=cv, refit=False, error_score="raise")
    assert set(search.fit(X).best_params_) == {"popularity"}


def test_validation_fits_do_not_warn_of_odd_values():
    song = X["song"].mode()[0]
    wrong = X.reset_index(drop=True)
    wrong.loc[np.flatnonzero(X["song"] == song)[1], "genre"] = "none of them"
    wrong["x0"] = wrong["x0"].mask(X["song"].to_numpy() == song, np.inf)
    with pytest.warns(UserWarning, match="one value in each|be finite") as caught:
        StackingRanker([("ridge", RidgeRanker(song_features="auto"))], random_state=0).fit(wrong)
    texts = [str(warning.message) for warning in caught]
    assert len([text for text in texts if "one value" in text]) == 1
    assert len([text for text in texts if "be finite" in text]) == 1


def test_partial_fit_where_all_parts_have_it():
    assert not hasattr(StackingRanker(PARTS), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        _ = StackingRanker(PARTS).partial_fit
    assert "Fit the stack again with all rows" in str(caught.value.__cause__)
    parts = [("one", MULTITASK), ("two", clone(MULTITASK).set_params(history=None))]
    is_new = X["user"] == X["user"].iloc[-1]
    stack = StackingRanker(parts, random_state=0).fit(X[~is_new])
    coef = stack.coef_.copy()
    stack.partial_fit(X[is_new])
    assert X["user"].iloc[-1] in stack.users_
    np.testing.assert_array_equal(stack.coef_, coef)
    assert np.isfinite(stack.predict(X[is_new])).all()


def test_forgetting_reaches_every_part(stack):
    stack = clone(stack).fit(X)
    gone = X["user"].iloc[0]
    stack.forget([gone])
    for ranker in (stack, *stack.estimators_):
        assert gone not in ranker.users_


def test_an_explanation_tells_which_ranker_says_what(stack):
    rows = X.head(40)  # known and new songs
    found = explain(stack, rows)
    assert found.columns.get_level_values("part").tolist() == stack.names_
    np.testing.assert_allclose(found.sum(axis=1), stack.predict(rows), rtol=1e-6)


def test_the_picture_shows_the_rankers():
    page = estimator_html_repr(StackingRanker(PARTS))
    assert "popularity" in page
    assert "MultitaskPlaylistRanker" in page
    page = estimator_html_repr(StackingRanker([("mine", PopularityRanker()), ("other", "drop")]))
    assert page.count('class="sk-parallel-item"') == 2


def test_id_columns_of_the_stack_hold_for_all():
    renamed = X.rename(columns={"user": "who", "playlist": "list", "song": "track"})
    ids = {"user": "who", "playlist": "list", "song": "track"}
    stack = StackingRanker([("popularity", PopularityRanker())], random_state=0, **ids)
    assert stack.fit(renamed).estimators_[0].song == "track"


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ([], ValueError, "must be a list of names and rankers"),
        ("ridge", ValueError, "must be a list of names and rankers"),
        ([("a", "drop")], ValueError, "At least one of `estimators` must be a ranker"),
        ([("a", PopularityRanker()), ("a", RidgeRanker())], ValueError, "must be distinct"),
        ([("a__b", PopularityRanker())], ValueError, "without '__'"),
        ([("cv", PopularityRanker())], ValueError, "must not be those of parameters"),
        ([("a", FEATURES)], TypeError, "must be rankers of this package; got ColumnTransformer"),
    ],
)
def test_wrong_estimators(estimators, error, message):
    with pytest.raises(error, match=message):
        StackingRanker(estimators).fit(X)


@pytest.mark.parametrize("cv", [5, ColdSongSplit(), ["songs"], "auto"])
def test_wrong_splitters(cv):
    with pytest.raises(TypeError, match="`cv` must be None or a list of splitters; got"):
        StackingRanker([("popularity", PopularityRanker())], cv=cv).fit(X)


def test_a_splitter_that_holds_nothing_out_is_warned_of():
    stack = StackingRanker([("popularity", PopularityRanker())], cv=[ColdUserSplit(user="owner")])
    with pytest.warns(UserWarning, match=r"^ColdUserSplit.* of `cv` holds nothing out: .*owner"):
        stack.fit(X)


def test_own_splitters():
    cv = [ColdSongSplit(released=None, random_state=1)]
    parts = [("artists", SameArtistRanker()), ("multitask", MULTITASK)]
    stack = StackingRanker(parts, cv=cv, random_state=0).fit(X)
    assert stack.n_held_out_[1, 0] > 0
    assert (stack.n_held_out_[:, 1:] == 0).all()
    np.testing.assert_array_equal(stack.coef_[1, 1], stack.coef_[1, 0])
