"""The recipe of the pgvector page, with a real server."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from databases import postgres_server

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features

RECIPE = Path(__file__).parent.parent / "examples" / "serving" / "pgvector_songs.py"
N_NEW = 20

pytestmark = pytest.mark.pgvector


@pytest.fixture(scope="module")
def recipe():
    return SimpleNamespace(**runpy.run_path(str(RECIPE)))


@pytest.fixture(scope="module")
def server():
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="module")
def connection(server):
    import psycopg

    with psycopg.connect(server) as connection:
        yield connection


@pytest.fixture(scope="module")
def tables():
    X = make_playlists(random_state=0)
    songs = X.drop_duplicates("song").drop(columns=["user", "playlist"])
    new = songs.tail(N_NEW)
    return X[~X["song"].isin(new["song"])], new


@pytest.fixture(scope="module")
def ranker(tables):
    X, _ = tables
    features = make_song_features(X, new_songs=True, random_state=0)
    features.set_params(identity="drop", tag_identity="drop")  # dense vectors
    return MultitaskPlaylistRanker(song_features=features, tol=1e-2, random_state=0).fit(X)


@pytest.fixture(scope="module")
def asked(tables):
    return tables[0][["user", "playlist"]].drop_duplicates("playlist").head(25)


@pytest.fixture(scope="module")
def stored(recipe, connection, ranker):
    recipe.store_songs(connection, ranker)
    return connection


def _answers(recipe, connection, ranker, asked, **options):
    return [
        recipe.best_songs(connection, vector, 10, **options)
        for vector in ranker.query_vectors(asked)
    ]


def test_the_database_finds_what_recommend_finds(recipe, stored, ranker, asked):
    songs, scores = ranker.recommend(asked, n_recommendations=10, exclude_seen=False)
    for found, ids, values in zip(
        _answers(recipe, stored, ranker, asked), songs, scores, strict=True
    ):
        assert {song for song, _ in found} == set(map(str, ids))
        np.testing.assert_allclose([score for _, score in found], values, rtol=1e-4)


def test_songs_of_the_playlist_are_left_out(recipe, stored, ranker, asked, tables):
    playlist = asked["playlist"].iloc[0]
    seen = tables[0].loc[tables[0]["playlist"] == playlist, "song"]
    songs, _ = ranker.recommend(asked.head(1), n_recommendations=10)
    vector = ranker.query_vectors(asked.head(1))[0]
    found = recipe.best_songs(stored, vector, 10, without=seen)
    assert {song for song, _ in found} == set(map(str, songs[0]))


def test_an_index_finds_nearly_the_same(recipe, stored, ranker, asked):
    exact = _answers(recipe, stored, ranker, asked)
    recipe.index_songs(stored)
    stored.execute("SET enable_seqscan = off")  # a small table would not be searched by its index
    plan = stored.execute(
        "EXPLAIN SELECT id FROM songs ORDER BY vector <#> %s::vector LIMIT 10",
        [recipe.as_text(ranker.query_vectors(asked.head(1))[0])],
    ).fetchall()
    assert "songs_by_score" in plan[0][0] + plan[1][0]
    found = _answers(recipe, stored, ranker, asked, effort=200)
    hits = [len(set(a) & set(b)) for a, b in zip(_ids(found), _ids(exact), strict=True)]
    assert np.mean(hits) > 9.5
    stored.execute("SET enable_seqscan = on")
    stored.execute("DROP INDEX songs_by_score")


def test_new_songs_are_found_beside_known_ones(recipe, stored, ranker, asked, tables):
    _, new = tables
    recipe.store_songs(stored, ranker, new_songs=new)
    everything = stored.execute("SELECT count(*) FROM songs").fetchone()[0]
    assert everything == len(ranker.songs_) + N_NEW
    vector = ranker.query_vectors(asked.head(1))[0]
    found = dict(recipe.best_songs(stored, vector, everything))
    rows = new.assign(**asked.iloc[0])
    for song, score in zip(new["song"], ranker.predict(rows), strict=True):
        np.testing.assert_allclose(found[str(song)], score, rtol=1e-4, atol=1e-5)


def _ids(answers):
    return [[song for song, _ in found] for found in answers]
