"""Features of songs, users and playlists in one call, from the roles of columns."""

from skmtc.features.recipes._clip import Clip, FiniteNumbers
from skmtc.features.recipes._playlist_features import make_playlist_features
from skmtc.features.recipes._song_features import make_song_features
from skmtc.features.recipes._user_features import make_user_features

__all__ = [
    "Clip",
    "FiniteNumbers",
    "make_playlist_features",
    "make_song_features",
    "make_user_features",
]
