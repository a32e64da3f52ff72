"""scikit-learn's own checks, on every public estimator, with no expected failures.

The embeddings by word2vec are checked in ``tests/features/embedding/test_word2vec.py``.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmtc import (
    CollocatedArtistRanker,
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
)
from skmtc.features import (
    ArtistEmbedding,
    ArtistPopularityEncoder,
    BlockScaler,
    CircularEncoder,
    DateEncoder,
    GenreEncoder,
    IdentityEncoder,
    PopularityEncoder,
    SongEmbedding,
    TagEncoder,
    TextEncoder,
    VectorEncoder,
)

# The checks' arrays have no names: ids are the first columns, and the artist is the last.
IDS = {"user": None, "playlist": 0, "song": 1}

ESTIMATORS = [
    MultitaskPlaylistRanker(song_features="passthrough", **IDS),
    MultitaskPlaylistRanker(
        song_features="passthrough", history=("song", "artist", "co-occurrence"), artist=-1, **IDS
    ),
    PopularityRanker(**IDS),
    SameArtistRanker(artist=-1, **IDS),
    CollocatedArtistRanker(artist=-1, **IDS),
    MatrixFactorizationRanker(n_factors=2, song_features="passthrough", **IDS),
    MatrixFactorizationRanker(n_factors=2, content_model=None, **IDS),
    OwnSongsRanker(**IDS),
    ItemKNNRanker(artist=-1, **IDS),
    RidgeRanker(song_features="passthrough", **IDS),
    PairwiseRanker(song_features="passthrough", **IDS),
    StackingRanker(
        [
            ("popularity", PopularityRanker(**IDS)),
            ("ridge", RidgeRanker(song_features="passthrough", **IDS)),
        ],
        random_state=0,
        **IDS,
    ),
    ArtistEmbedding(),
    ArtistPopularityEncoder(),
    BlockScaler(),
    CircularEncoder(),
    DateEncoder(),
    GenreEncoder(),
    IdentityEncoder(),
    PopularityEncoder(),
    SongEmbedding(),
    SongEmbedding(method="als"),
    TagEncoder(),
    TagEncoder(n_components=2),
    TextEncoder(),
    VectorEncoder(),
]


# Some checks use small integers as ids, so that rows repeat, or songs that are all alike; a ranker
# tells so.
@pytest.mark.filterwarnings("ignore:Left out of fit")
@pytest.mark.filterwarnings("ignore:[A-Za-z]+ has the same score for all")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)
