"""Parts of the generator of playlists."""

from skmtc.datasets.generate._audience import make_audience
from skmtc.datasets.generate._catalogue import feature_columns, make_catalogue
from skmtc.datasets.generate._sampling import (
    sample_lengths,
    sample_owners,
    sample_playlist_coef,
    sample_songs,
)
from skmtc.datasets.generate._stream import make_popular_songs, sample_block

__all__ = [
    "feature_columns",
    "make_audience",
    "make_catalogue",
    "make_popular_songs",
    "sample_block",
    "sample_lengths",
    "sample_owners",
    "sample_playlist_coef",
    "sample_songs",
]
