"""scikit-learn's own checks, on every public estimator, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmtc import (
    CollocatedArtistRanker,
    HistoryRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
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
        song_features="passthrough", history=("song", "artist", "collocation"), artist=-1, **IDS
    ),
    PopularityRanker(**IDS),
    SameArtistRanker(artist=-1, **IDS),
    CollocatedArtistRanker(artist=-1, **IDS),
    MatrixFactorizationRanker(n_factors=2, song_features="passthrough", **IDS),
    MatrixFactorizationRanker(n_factors=2, content_model=None, **IDS),
    HistoryRanker(**IDS),
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
    ArtistEmbedding(method="word2vec"),
    ArtistPopularityEncoder(),
    BlockScaler(),
    CircularEncoder(),
    DateEncoder(),
    GenreEncoder(),
    IdentityEncoder(),
    PopularityEncoder(),
    SongEmbedding(),
    SongEmbedding(method="word2vec"),
    SongEmbedding(method="als"),
    TagEncoder(),
    TagEncoder(n_components=2),
    TextEncoder(),
    VectorEncoder(),
]


# Some checks use small integers as ids, so that rows repeat; a ranker tells so.
@pytest.mark.filterwarnings("ignore:Left out of fit")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)
