"""Helpers of `recommend` and `similar_songs`: candidates, search, diversity, tables of results."""

from skmtc.rankers.recommend._candidates import blocked_pairs, read_candidates
from skmtc.rankers.recommend._prepared import CatalogueCache
from skmtc.rankers.recommend._recommend import Options, RecommendOptions, recommend
from skmtc.rankers.recommend._seen import seen_candidates
from skmtc.rankers.recommend._similar import playlist_vectors, similar_songs, unit_rows
from skmtc.rankers.recommend._song_columns import (
    SongColumns,
    join_song_columns,
    read_song_columns,
    without_song_columns,
)

__all__ = [
    "CatalogueCache",
    "Options",
    "RecommendOptions",
    "SongColumns",
    "blocked_pairs",
    "join_song_columns",
    "playlist_vectors",
    "read_candidates",
    "read_song_columns",
    "recommend",
    "seen_candidates",
    "similar_songs",
    "unit_rows",
    "without_song_columns",
]
