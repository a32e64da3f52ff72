"""Who is cold: cross-validation splitters over membership tables."""

from skmtc.model_selection._cold_playlists import ColdPlaylistKFold, ColdPlaylistSplit
from skmtc.model_selection._cold_songs import ColdSongKFold, ColdSongSplit
from skmtc.model_selection._cold_users import ColdUserKFold, ColdUserSplit

__all__ = [
    "ColdPlaylistKFold",
    "ColdPlaylistSplit",
    "ColdSongKFold",
    "ColdSongSplit",
    "ColdUserKFold",
    "ColdUserSplit",
]
