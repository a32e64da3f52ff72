"""Tables in: generated playlists."""

from skmtc.datasets._generator import make_playlists

__all__ = ["make_playlists"]
