"""Generated playlists, readers of local copies of public data sets, and of plain files."""

from skmtc.datasets._aotm2011 import load_aotm2011
from skmtc.datasets._generator import make_playlists
from skmtc.datasets._genres import load_genres
from skmtc.datasets._mpd import load_mpd
from skmtc.datasets._msd import load_msd_songs
from skmtc.datasets._sample import load_sample
from skmtc.datasets._stream_playlists import write_playlists
from skmtc.datasets._tables import read_table, write_table
from skmtc.datasets._thirty_music import load_30music

__all__ = [
    "load_30music",
    "load_aotm2011",
    "load_genres",
    "load_mpd",
    "load_msd_songs",
    "load_sample",
    "make_playlists",
    "read_table",
    "write_playlists",
    "write_table",
]

# Used by other parts of the package; not public.
from skmtc.datasets._tables import column_names as column_names
