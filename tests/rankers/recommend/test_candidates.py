"""Candidates of each query: licences, regions."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone

from skmtc import MultitaskPlaylistRanker, PopularityRanker, evaluate
from tests.test_ranker_checks import NEW_SONGS, QUERIES, RANKERS, SONG_COLUMNS, X_ALL, X_TRAIN

RNG = np.random.default_rng(0)
SONGS = np.sort(X_TRAIN["song"].unique())
ALLOWED = RNG.random((len(QUERIES), len(SONGS))) < 0.5
FIRST = X_ALL.drop_duplicates("song").set_index("song")
N_LEFT = 3


def _pairs(key="playlist"):
    rows, columns = np.nonzero(ALLOWED)
    return pd.DataFrame({key: QUERIES[key].to_numpy()[rows], "song": SONGS[columns]})


@pytest.fixture(scope="module")
def ranker():
    return MultitaskPlaylistRanker(song_features=["x0", "x1"], tol=0.1).fit(X_TRAIN)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.filterwarnings("ignore:MatrixFactorizationRanker has the same score")
def test_each_query_gets_the_best_of_its_own(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    options = {"n_recommendations": N_LEFT, "exclude_seen": False}
    songs, scores = ranker.recommend(QUERIES, candidates=csr_array(ALLOWED), **options)
    for row in range(len(QUERIES)):
        own = SONGS[ALLOWED[row]]
        expected = ranker.recommend(QUERIES.iloc[[row]], candidates=own, **options)
        assert songs[row].tolist() == expected[0][0].tolist()
        np.testing.assert_allclose(scores[row], expected[1][0])
    found, found_scores = ranker.recommend(QUERIES, candidates=_pairs(), **options)
    assert found.tolist() == songs.tolist()
    np.testing.assert_allclose(found_scores, scores)


def test_blocks_change_nothing_and_seen_songs_stay_out(ranker):
    queries = pd.concat([QUERIES] * 40, ignore_index=True)
    allowed = csr_array(np.tile(ALLOWED, (40, 1)))
    expected = ranker.recommend(queries, n_recommendations=N_LEFT, candidates=allowed)
    with sklearn.config_context(working_memory=0.01):
        again = ranker.recommend(queries, n_recommendations=N_LEFT, candidates=allowed)
    assert again[0].tolist() == expected[0].tolist()
    assert again[1].tolist() == expected[1].tolist()
    seen = set(zip(X_TRAIN["playlist"], X_TRAIN["song"], strict=True))
    for playlist, songs in zip(queries["playlist"], expected[0], strict=True):
        assert not seen & {(playlist, song) for song in songs}


def test_two_keys_and_rows_of_others(ranker):
    queries = QUERIES[["user", "playlist"]].iloc[:2]
    others = _pairs("user").assign(playlist="another")[["user", "playlist", "song"]]
    own = pd.DataFrame(queries.iloc[[0, 0, 1]]).assign(song=SONGS[[3, 4, 5]])
    table = pd.concat([own, others], ignore_index=True)
    with pytest.warns(UserWarning, match="rows of candidates: .* neither asked for nor known"):
        frame = ranker.recommend(
            queries, n_recommendations=5, candidates=table, exclude_seen=False, as_frame=True
        )
    found = frame.groupby("playlist", sort=False)["song"].agg(sorted).tolist()
    assert found == [sorted(SONGS[[3, 4]]), [SONGS[5]]]
    assert frame["rank"].tolist() == [1, 2, 1]


def test_cap_and_diversity_choose_among_the_allowed(ranker):
    options = {"candidates": csr_array(ALLOWED), "exclude_seen": False, "as_frame": True}
    frame = ranker.recommend(
        QUERIES, n_recommendations=50, max_per_artist=1, diversity=0.4, **options
    )
    assert (frame.groupby(["user", "playlist"])["artist"].nunique() > 1).all()
    assert not frame.duplicated(["playlist", "artist"]).any()
    for row, playlist in enumerate(QUERIES["playlist"]):
        own = frame[frame["playlist"] == playlist]
        assert set(own["song"]) <= set(SONGS[ALLOWED[row]])
        artists = FIRST.loc[SONGS[ALLOWED[row]], "artist"].unique()
        assert set(own["artist"]) == set(artists)  # as many as there can be


def test_new_songs_come_with_their_columns(ranker):
    new = FIRST.loc[NEW_SONGS].reset_index()[SONG_COLUMNS]
    table = QUERIES[["playlist"]].iloc[:2].merge(new, how="cross")
    songs, _ = ranker.recommend(
        QUERIES.iloc[:2], n_recommendations=len(NEW_SONGS), candidates=table
    )
    assert set(songs.ravel()) == set(NEW_SONGS)
    bare = pd.concat([table[["playlist", "song"]], _pairs()])
    with pytest.warns(UserWarning, match=f"{len(table)} of songs that are not known"):
        songs, _ = ranker.recommend(QUERIES.iloc[:2], n_recommendations=1, candidates=bare)
    assert not set(songs.ravel()) & set(NEW_SONGS)


def test_bad_candidates_are_reported(ranker):
    def reported(candidates, error=ValueError, queries=QUERIES, **options):
        with pytest.raises(error) as caught:
            ranker.recommend(queries, candidates=candidates, **options)
        return str(caught.value)

    message = reported(csr_array(ALLOWED[:, :-1]))
    assert f"shape {ALLOWED.shape}; got shape" in message
    assert "name queries by columns that these have; got the column 'playlist'" in reported(
        _pairs(), queries=QUERIES[["user"]]
    )
    strangers = _pairs().assign(playlist=X_TRAIN["playlist"].iloc[0])
    queries = QUERIES[QUERIES["playlist"] != strangers["playlist"].iloc[0]]
    assert "songs for at least one query" in reported(strangers, queries=queries)
    message = reported(csr_array(ALLOWED), n_recommendations=len(SONGS))
    assert "got fewer for" in message
    assert "Pass as_frame=True for lists of unequal lengths" in message
    assert "boolean sparse matrix" in reported({1, 2}, TypeError)


def test_metrics_count_candidates_only():
    ranker = PopularityRanker().fit(X_TRAIN)
    test = X_ALL[X_ALL["song"].isin(SONGS)]
    whole = evaluate(ranker, test, ["auc", "hit_rate@3"], exclude_seen=False)
    allowed = RNG.random((len(whole), len(SONGS))) < 0.6
    options = {"exclude_seen": False, "candidates": csr_array(allowed)}
    with sklearn.config_context(working_memory=0.01):
        blocks = evaluate(
            ranker,
            test,
            ["auc", "hit_rate@3", "coverage@3"],
            by="summary",
            n_resamples=0,
            **options,
        )
    found = evaluate(ranker, test, ["auc", "hit_rate@3"], **options)
    assert found["playlist"].tolist() == whole["playlist"].tolist()
    scores = ranker.song_vectors().ravel()
    for row, playlist in enumerate(found["playlist"]):
        own = np.isin(SONGS, test.loc[test["playlist"] == playlist, "song"]) & allowed[row]
        others = allowed[row] & ~own
        assert found["size"][row] == own.sum()
        if own.any() and others.any():
            above = scores[own][:, None] - scores[others]
            area = ((above > 0) + 0.5 * (above == 0)).mean()
            assert found["auc"][row] == pytest.approx(area)
    assert blocks["mean"].notna().all()
    rows, columns = np.nonzero(allowed)
    table = pd.DataFrame({"playlist": found["playlist"].to_numpy()[rows], "song": SONGS[columns]})
    by_table = evaluate(ranker, test, ["auc", "hit_rate@3"], exclude_seen=False, candidates=table)
    pd.testing.assert_frame_equal(by_table, found)
    some = evaluate(ranker, test, "auc", exclude_seen=False, candidates=SONGS[:10])
    assert (some["size"] <= 10).all()
    everything = evaluate(ranker, test, ["auc", "hit_rate@3"], exclude_seen=False, candidates=SONGS)
    pd.testing.assert_frame_equal(everything, whole)
