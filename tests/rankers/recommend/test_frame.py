"""Results as tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skmtc import PopularityRanker
from tests.test_ranker_checks import NEW_SONGS, QUERIES, RANKERS, SONG_COLUMNS, X_ALL, X_TRAIN

FIRST = X_ALL.drop_duplicates("song").set_index("song")


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.filterwarnings("ignore:MatrixFactorizationRanker has the same score")
def test_the_table_has_what_the_arrays_have(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    songs, scores = ranker.recommend(QUERIES, n_recommendations=3)
    frame = ranker.recommend(QUERIES, n_recommendations=3, as_frame=True)
    asked = QUERIES.loc[QUERIES.index.repeat(3)].reset_index(drop=True)
    for label in ("user", "playlist"):
        assert frame[label].tolist() == asked[label].tolist()
    assert frame["rank"].tolist() == [1, 2, 3] * len(QUERIES)
    assert frame["song"].tolist() == songs.ravel().tolist()
    assert frame["score"].tolist() == scores.ravel().tolist()
    described = [c for c in SONG_COLUMNS if c != "song"]
    expected = FIRST.loc[frame["song"], described].reset_index(drop=True)
    assert frame[described].to_numpy().tolist() == expected.to_numpy().tolist()
    assert not {"age", "country"} & set(frame.columns)


@pytest.mark.parametrize("ranker", [RANKERS[0], RANKERS[6]], ids=["artists", "multitask"])
def test_new_songs_bring_their_own_columns(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    candidates = FIRST.loc[[*NEW_SONGS, X_TRAIN["song"].iloc[0]]].reset_index()[SONG_COLUMNS]
    frame = ranker.recommend(
        QUERIES.iloc[:2], n_recommendations=2, candidates=candidates, as_frame=True
    )
    assert frame["artist"].tolist() == FIRST.loc[frame["song"], "artist"].tolist()
    assert frame["year"].tolist() == FIRST.loc[frame["song"], "year"].tolist()
    without = candidates.drop(columns="year")
    frame = ranker.recommend(
        QUERIES.iloc[:2],
        n_recommendations=len(without),
        candidates=without,
        as_frame=True,
        exclude_seen=False,
    )
    assert frame["year"].isna().tolist() == frame["song"].isin(NEW_SONGS).tolist()


def test_foreign_names_positions_and_clashes():
    X = X_TRAIN.rename(columns={"user": "owner", "song": "track_id", "year": "rank"})
    ranker = PopularityRanker(user="owner", song="track_id").fit(X)
    frame = ranker.recommend(X[["owner"]].iloc[:1], n_recommendations=2, as_frame=True)
    assert frame.columns[:4].tolist() == ["owner", "rank", "track_id", "score"]
    assert frame["song_rank"].tolist() == FIRST.loc[frame["track_id"], "year"].tolist()
    rows = X_TRAIN[["user", "playlist", "song", "artist"]].to_numpy()
    ranker = PopularityRanker(user=0, playlist=1, song=2, artist=3).fit(rows)
    frame = ranker.recommend(rows[:1], n_recommendations=2, as_frame=True)
    assert frame.columns.tolist() == ["user", "playlist", "rank", "song", "score", 3]
    assert frame[3].tolist() == FIRST.loc[frame["song"], "artist"].tolist()


def test_queries_without_ids_are_numbered():
    ranker = PopularityRanker().fit(X_TRAIN)
    new = pd.DataFrame({"age": [31, 40], "country": ["AU", "AT"]})
    frame = ranker.recommend(new, n_recommendations=2, as_frame=True)
    assert frame["query"].tolist() == [0, 0, 1, 1]
    plain = PopularityRanker().fit(X_TRAIN[["user", "playlist", "song"]])
    frame = plain.recommend(QUERIES[["user"]].iloc[:1], n_recommendations=2, as_frame=True)
    assert frame.columns.tolist() == ["user", "rank", "song", "score"]
    assert np.isfinite(frame["score"]).all()
