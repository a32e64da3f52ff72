"""Parts of the generator of playlists."""

from skmtc.datasets.generate._audience import make_audience
from skmtc.datasets.generate._catalogue import feature_columns, make_catalogue
from skmtc.datasets.generate._sampling import (
    draw_lengths,
    draw_owners,
    draw_playlist_coef,
    draw_songs,
)

__all__ = [
    "draw_lengths",
    "draw_owners",
    "draw_playlist_coef",
    "draw_songs",
    "feature_columns",
    "make_audience",
    "make_catalogue",
]
