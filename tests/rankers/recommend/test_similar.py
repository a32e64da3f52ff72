"""Similar songs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity

from skmtc import (
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PopularityRanker,
    StackingRanker,
)
from skmtc.rankers.stacking._situations import WHAT, WHO
from tests.test_ranker_checks import NEW_SONGS, RANKERS, SONG_COLUMNS, X_ALL, X_TRAIN

FIRST = X_ALL.drop_duplicates("song").set_index("song")
NEW = FIRST.loc[NEW_SONGS].reset_index()[SONG_COLUMNS]
ASKED = np.sort(X_TRAIN["song"].unique())[[7, 3, 3, 11]]


def _has_content(ranker):
    """Check whether something is known of every new song of the tests."""
    return type(ranker).__name__ in ("MultitaskPlaylistRanker", "PairwiseRanker", "RidgeRanker")


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_songs_come_in_the_order_of_cosines(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    songs, scores = ranker.similar_songs(ASKED, n=5)
    vectors = ranker.similarity_vectors(ranker.reader.catalogue())
    vectors = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    cosines = cosine_similarity(vectors)
    for asked, found, reported in zip(ASKED, songs, scores, strict=True):
        own = cosines[int(np.flatnonzero(ranker.songs_ == asked)[0])]
        others = ranker.songs_ != asked
        assert asked not in found
        assert len(set(found)) == 5
        np.testing.assert_allclose(reported, np.sort(own[others])[::-1][:5], atol=1e-6)
        np.testing.assert_allclose(reported, own[np.searchsorted(ranker.songs_, found)], atol=1e-6)
    with sklearn.config_context(working_memory=0.001):
        again = ranker.similar_songs(ASKED, n=5)
    assert again[0].tolist() == songs.tolist()
    frame = ranker.similar_songs(ASKED[0], n=5, as_frame=True)
    assert frame["similar_to"].tolist() == [ASKED[0]] * 5
    assert frame["song"].tolist() == songs[0].tolist()
    assert frame["artist"].tolist() == FIRST.loc[songs[0], "artist"].tolist()
    n_others = len(ranker.songs_) - 1
    everything, _ = ranker.similar_songs(ASKED[:1], n=n_others)
    assert set(everything[0]) == set(ranker.songs_) - {ASKED[0]}


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_new_songs_by_what_describes_them(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    # A copy of a known song under another name is most like that song.
    copies = FIRST.loc[ASKED[[0, 1]]].reset_index().assign(song=["copy0", "copy1"])[SONG_COLUMNS]
    if isinstance(ranker, MatrixFactorizationRanker) and ranker.content_model is None:
        with pytest.raises(ValueError, match="must have features or a known artist"):
            ranker.similar_songs(copies, n=1)
        return
    songs, scores = ranker.similar_songs(copies, n=3)
    assert (scores <= 1 + 1e-9).all()
    assert (scores[:, 0] > 0).all()
    if _has_content(ranker):
        assert songs[:, 0].tolist() == ASKED[[0, 1]].tolist()
        assert scores[:, 0] == pytest.approx(1.0)
        known, _ = ranker.similar_songs(ASKED[[0, 1]], n=2)
        assert songs[:, 1:].tolist() == known.tolist()
        assert len(ranker.similar_songs(NEW, n=2)[0]) == len(NEW)
    elif not isinstance(ranker, StackingRanker | MatrixFactorizationRanker):
        # Without features, by the mean vector of the artist's songs.
        rows = ranker.similarity_vectors(ranker.reader.catalogue()).toarray()
        artists = FIRST.loc[ranker.songs_, "artist"].to_numpy()
        means = np.stack([rows[artists == artist].mean(axis=0) for artist in copies["artist"]])
        expected = -np.sort(-cosine_similarity(means, rows), axis=1)[:, :3]
        np.testing.assert_allclose(scores, expected)


def test_cooccurrence_by_hand():
    X = pd.DataFrame(
        {"playlist": list("aabbccd"), "song": list("xyxyxzz"), "user": list("1122334")}
    )
    songs, scores = PopularityRanker().fit(X).similar_songs(["y", "z"], n=2)
    # y is in a and b, x in a, b and c, z in c and d; all but d, of one song, weigh the same.
    assert songs.tolist() == [["x", "z"], ["x", "y"]]
    assert scores[0] == pytest.approx([2 / np.sqrt(2 * 3), 0.0])
    assert songs[1][0] == "x"
    assert scores[1][1] == 0.0


def test_stacks_take_the_weighted_mean_of_their_rankers():
    multitask = MultitaskPlaylistRanker(song_features=["x0", "x1"], tol=0.1)
    parts = [("knn", ItemKNNRanker()), ("multitask", multitask)]
    stack = StackingRanker(parts, random_state=0).fit(X_TRAIN)
    stack.coef_ = np.tile([0.25, 0.75], (len(WHAT), len(WHO), 1))
    cosines = [
        cosine_similarity(part.similarity_vectors(part.reader.catalogue()))
        for part in stack.estimators_
    ]
    expected = 0.25 * cosines[0] + 0.75 * cosines[1]
    songs, scores = stack.similar_songs(stack.songs_[:1], n=4)
    places = np.searchsorted(stack.songs_, songs[0])
    np.testing.assert_allclose(scores[0], expected[0, places], atol=1e-6)
    np.testing.assert_allclose(scores[0], np.sort(expected[0, 1:])[::-1][:4], atol=1e-6)


def test_bad_requests_are_reported():
    ranker = PopularityRanker().fit(X_TRAIN)
    with pytest.raises(ValueError, match="got 2 ids, 1 of them unknown: 'no song'"):
        ranker.similar_songs([ASKED[0], "no song"])
    with pytest.raises(ValueError, match="`n` must be at most the number of other songs"):
        ranker.similar_songs(ASKED[:1], n=len(ranker.songs_))
    with pytest.raises(ValueError, match="`n` must be an integer of 1 or more; got 0"):
        ranker.similar_songs(ASKED, n=0)
    unknown = pd.DataFrame({"song": ["new"], "artist": ["nobody"]})
    with pytest.raises(ValueError, match="got 1 of 1 without, the first 'new'"):
        ranker.similar_songs(unknown)
    plain = PopularityRanker().fit(X_TRAIN[["user", "playlist", "song"]])
    with pytest.raises(ValueError, match="got 1 of 1 without"):
        plain.similar_songs(unknown[["song"]])
