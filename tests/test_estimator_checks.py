"""scikit-learn's own checks, on every public estimator, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.features import (
    ArtistEmbedding,
    ArtistPopularityEncoder,
    CircularEncoder,
    GenreEncoder,
    PopularityEncoder,
    SongEmbedding,
)

ESTIMATORS = [
    MultitaskPlaylistRanker(user=None, playlist=0, song=1, song_features="passthrough"),
    PopularityRanker(user=None, playlist=0, song=1),
    ArtistEmbedding(),
    ArtistPopularityEncoder(),
    CircularEncoder(),
    GenreEncoder(),
    PopularityEncoder(),
    SongEmbedding(),
]


# Some checks use small integers as ids, so that rows repeat; a ranker tells so.
@pytest.mark.filterwarnings("ignore:Left out of fit")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)
