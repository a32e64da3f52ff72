"""Attributes of playlists, such as titles: what a new playlist is scored by."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer

from skmtc import MultitaskPlaylistRanker, RidgeRanker, StackingRanker, evaluate
from skmtc.features import TagEncoder
from skmtc.inspection import explain
from skmtc.model_selection import ColdPlaylistSplit
from skmtc.persistence import load, save
from skmtc.rankers.features._neighbors import GAIN, similar_playlists

TITLES = make_column_transformer((TagEncoder(min_frequency=1, separator="|"), ["title"]))
FIT = {"song_features": ["x0", "x1", "x2"], "tol": 1e-4, "playlist_l1": 0.02}


def titled(seed=0):
    """Return playlists whose songs are large in the feature that the title names."""
    rng = np.random.default_rng(seed)
    songs = pd.DataFrame(rng.normal(size=(90, 3)), columns=["x0", "x1", "x2"])
    songs["song"] = [f"s{i:02d}" for i in range(90)]
    rows = []
    for number in range(90):
        mood = rng.integers(3)
        best = np.argsort(-songs[f"x{mood}"] + rng.normal(scale=0.7, size=90))[:8]
        words = [["run", "fast"], ["sleep", "slow"], ["party", "loud"]][mood]
        title = "|".join([*rng.permutation(words)[: rng.integers(1, 3)], f"w{number % 13}"])
        rows.append(
            songs.iloc[best].assign(user=f"u{number % 20:02d}", playlist=number, title=title)
        )
    return pd.concat(rows, ignore_index=True)


X = titled()
RANKER = MultitaskPlaylistRanker(playlist_features=TITLES, **FIT).fit(X)
PLAIN = MultitaskPlaylistRanker(**FIT).fit(X)


def test_nothing_changes_without_attributes():
    known = X.drop_duplicates("playlist")
    np.testing.assert_array_equal(RANKER.query_vectors(known), PLAIN.query_vectors(known))
    for query in (
        pd.DataFrame({"user": ["u00", "nobody"]}),
        pd.DataFrame({"user": ["u00"], "title": ["unheard"]}),
        pd.DataFrame({"user": ["u00"], "title": [None]}),
    ):
        without = query[["user"]]
        np.testing.assert_array_equal(RANKER.query_vectors(query), PLAIN.query_vectors(without))


def test_similar_playlists_by_hand():
    known = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
    weights = similar_playlists(np.array([[2.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]), known, 3)
    root = np.sqrt(0.5)
    total = 1 + root
    np.testing.assert_allclose(
        weights.toarray(), [[GAIN / total, GAIN * root / total, 0, 0], [0] * 4, [0] * 4]
    )
    # The most similar only, with all that are as similar.
    one = similar_playlists(np.array([[1.0, 0.0]]), np.vstack([known, known[:1]]), 1)
    np.testing.assert_allclose(one.toarray(), [[GAIN / 2, 0, 0, 0, GAIN / 2]])
    # What has little in common adds little.
    far = similar_playlists(np.array([[1.0, 1.0]]), known[:1], 3)
    np.testing.assert_allclose(far.toarray(), [[GAIN * root]])


def test_the_weights_of_similar_playlists_are_added():
    query = pd.DataFrame({"user": ["u03", "nobody"], "title": ["run|w1", "loud"]})
    attributes = RANKER.playlist_features_.transform(query)
    similar = similar_playlists(attributes, RANKER.playlist_attributes_, 10).toarray()
    full = RANKER.user_coef_[RANKER.user_of_playlist_] + RANKER.playlist_coef_
    expected = PLAIN.query_vectors(query[["user"]]) + similar @ full
    np.testing.assert_allclose(RANKER.query_vectors(query), expected)


def test_titles_help_where_they_say_what_is_in_a_playlist():
    ((train, test),) = ColdPlaylistSplit(user_size=0.8, min_song_count=2, random_state=0).split(X)
    with_titles, without = (
        evaluate(ranker.fit(X.iloc[train]), X.iloc[test], "auc")["auc"].mean()
        for ranker in (
            MultitaskPlaylistRanker(playlist_features=TITLES, **FIT),
            MultitaskPlaylistRanker(**FIT),
        )
    )
    assert with_titles > without + 0.1


def test_a_title_is_enough_to_recommend():
    fast, _ = RANKER.recommend(pd.DataFrame({"title": ["run|fast"]}), n_recommendations=10)
    slow, _ = RANKER.recommend(pd.DataFrame({"title": ["slow"]}), n_recommendations=10)
    feature = X.drop_duplicates("song").set_index("song")
    assert feature.loc[fast[0], "x0"].mean() > feature.loc[slow[0], "x0"].mean() + 0.5
    assert feature.loc[slow[0], "x1"].mean() > feature.loc[fast[0], "x1"].mean() + 0.5


def test_rows_to_predict_have_titles():
    new = X.iloc[:5].assign(playlist=999, title="sleep")
    scores = RANKER.predict(new)
    vector = RANKER.query_vectors(pd.DataFrame({"user": ["u00"], "title": ["sleep"]}))
    np.testing.assert_allclose(scores, (RANKER.song_vectors(new["song"]) @ vector.T)[:, 0])


def test_explanations_name_the_playlist():
    new = X.iloc[:5].assign(playlist=999, title="sleep")
    parts = explain(RANKER, new)
    np.testing.assert_allclose(parts.sum(axis=1), RANKER.predict(new))
    assert abs(parts["playlist"]).to_numpy().sum() > 0
    plain = explain(PLAIN, new.drop(columns="title"))
    np.testing.assert_allclose(parts[["shared", "user"]], plain[["shared", "user"]])
    known = explain(RANKER, X.iloc[:5])
    np.testing.assert_allclose(known, explain(PLAIN, X.iloc[:5]))


def test_models_can_be_stored_extended_and_forget(tmp_path):
    query = pd.DataFrame({"user": ["u03"], "title": ["run|w1"]})
    late = X["playlist"] >= 85
    ranker = MultitaskPlaylistRanker(playlist_features=TITLES, **FIT).fit(X[~late])
    before = ranker.query_vectors(query)
    assert ranker.partial_fit(X[late]) is ranker
    assert ranker.playlist_attributes_.shape[0] == len(ranker.playlists_) == 90
    titles = X.drop_duplicates("playlist").set_index("playlist").loc[ranker.playlists_]
    expected = ranker.playlist_features_.transform(titles.reset_index())
    assert abs(ranker.playlist_attributes_ - expected).sum() == 0
    assert not np.array_equal(ranker.query_vectors(query), before)
    save(ranker, tmp_path / "model.skops")
    for again in (pickle.loads(pickle.dumps(ranker)), load(tmp_path / "model.skops")):
        np.testing.assert_array_equal(again.query_vectors(query), ranker.query_vectors(query))
    ranker.forget(["u05"])
    assert ranker.playlist_attributes_.shape[0] == len(ranker.playlists_) < 90
    gone = MultitaskPlaylistRanker(playlist_features=TITLES, **FIT)
    assert gone.fit(X[X["user"] != "u05"]).predict(X[:3]).shape == (3,)


def test_numbers_and_arrays():
    codes = X.assign(
        user=pd.factorize(X["user"])[0],
        song=pd.factorize(X["song"])[0],
        mood=pd.factorize(X["title"].str[0])[0] % 3 - 1.0,
    ).drop(columns="title")
    codes = codes[["user", "playlist", "song", "x0", "x1", "x2", "mood"]]
    by_name = MultitaskPlaylistRanker(playlist_features="passthrough", **FIT).fit(codes)
    assert by_name.playlist_features_.columns == ["mood"]
    alone = MultitaskPlaylistRanker(playlist_features="passthrough", user=None, **FIT)
    assert alone.fit(codes.drop(columns="user")).playlist_features_.columns == ["mood"]
    mood = make_column_transformer(("passthrough", [6]))
    songs = make_column_transformer(("passthrough", [3, 4, 5]))
    ids = {"user": 0, "playlist": 1, "song": 2}
    by_position = MultitaskPlaylistRanker(
        playlist_features=mood, **FIT | {"song_features": songs}, **ids
    ).fit(codes.to_numpy())
    query = codes.iloc[:1].assign(playlist=999, mood=1.0)
    np.testing.assert_allclose(
        by_name.query_vectors(query), by_position.query_vectors(query.to_numpy()), atol=1e-9
    )
    with pytest.raises(ValueError, match="playlist_features='passthrough' needs columns"):
        MultitaskPlaylistRanker(playlist_features="passthrough", **FIT).fit(
            codes.drop(columns="mood")
        )
    with pytest.raises(TypeError, match="`playlist_features` must be a scikit-learn transformer"):
        MultitaskPlaylistRanker(playlist_features=3, **FIT).fit(X)


def test_words_of_scikit_learn_and_a_stack():
    words = make_column_transformer((CountVectorizer(token_pattern=r"\w+"), "title"))
    parts = [
        ("multitask", MultitaskPlaylistRanker(playlist_features=words, **FIT)),
        ("ridge", RidgeRanker(song_features=["x0", "x1", "x2"])),
    ]
    stack = StackingRanker(parts, random_state=0).fit(X)
    scores = stack.predict(X.iloc[:5].assign(playlist=999))
    assert np.isfinite(scores).all()
    unknown_owners = MultitaskPlaylistRanker(playlist_features=TITLES, user=None, **FIT).fit(X)
    one, other = unknown_owners.query_vectors(pd.DataFrame({"title": ["run", "slow"]}))
    assert not np.array_equal(one, other)
