"""Cold-start and time splitters for membership tables."""

from skmtc.model_selection._cold_playlists import ColdPlaylistKFold, ColdPlaylistSplit
from skmtc.model_selection._cold_songs import ColdSongKFold, ColdSongSplit
from skmtc.model_selection._cold_users import ColdUserKFold, ColdUserSplit
from skmtc.model_selection._time_split import TimeSplit, half_life_weights

__all__ = [
    "ColdPlaylistKFold",
    "ColdPlaylistSplit",
    "ColdSongKFold",
    "ColdSongSplit",
    "ColdUserKFold",
    "ColdUserSplit",
    "TimeSplit",
    "half_life_weights",
]
