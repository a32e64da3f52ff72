"""Features of songs and users in one call, from the roles of columns."""

from skmtc.features.recipes._clip import Clip
from skmtc.features.recipes._song_features import make_song_features
from skmtc.features.recipes._user_features import make_user_features

__all__ = ["Clip", "make_song_features", "make_user_features"]
