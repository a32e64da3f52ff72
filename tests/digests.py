"""Rankers and what they answer, as digests that tell whether all bits are the same."""

import hashlib

import numpy as np

from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PopularityRanker,
    RidgeRanker,
    StackingRanker,
)
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features, make_user_features
from skmtc.rankers.history._pair_features import TERMS

X = make_playlists(16, 48, 50, 12, n_features=3, repeat=0.3, random_state=0)
IS_TRAIN = ~X["user"].isin(X["user"].unique()[::7]) & ~X["song"].isin(X["song"].unique()[::9])
TRAIN = X[IS_TRAIN]
FEATURES = {
    "song_features": make_song_features(X, random_state=0),
    "user_features": make_user_features(X),
}
MULTITASK = MultitaskPlaylistRanker(history=TERMS, tol=0.1, random_state=0, **FEATURES)
RANKERS = {
    "multitask": MULTITASK,
    "ridge": RidgeRanker(**FEATURES),
    "factors": MatrixFactorizationRanker(n_factors=4, content_model=None, random_state=0),
    "stack": StackingRanker(
        [("popularity", PopularityRanker()), ("ridge", RidgeRanker(**FEATURES))], random_state=0
    ),
}


def digest(ranker, rows=X, names=None):
    """Return a digest of the scores of all rows, and of the songs that are recommended.

    `names` gives the ids that renamed songs had.
    """
    songs, scores = ranker.recommend(
        rows[["user", "playlist"]].drop_duplicates(), n_recommendations=7
    )
    if names is not None:
        songs = np.vectorize(names.get)(songs)
    found = hashlib.sha256(ranker.predict(rows).tobytes())
    found.update(scores.tobytes())
    found.update("\n".join(map(str, songs.ravel())).encode())
    return found.hexdigest()


def print_digests():
    """Fit all rankers, and print their digests."""
    for name, ranker in RANKERS.items():
        print(name, digest(ranker.fit(TRAIN)))
