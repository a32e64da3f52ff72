"""Features of songs, users and playlists: transformers fitted on one row for each of them."""

from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._block_scaler import BlockScaler
from skmtc.features._circular import CircularEncoder
from skmtc.features._dates import DateEncoder
from skmtc.features._genre import GenreEncoder
from skmtc.features._identity import IdentityEncoder
from skmtc.features._popularity_encoders import ArtistPopularityEncoder, PopularityEncoder
from skmtc.features._song_embedding import SongEmbedding
from skmtc.features._tags import TagEncoder
from skmtc.features._text import TextEncoder
from skmtc.features._vector import VectorEncoder
from skmtc.features.recipes import (
    make_playlist_features,
    make_song_features,
    make_user_features,
)
from skmtc.features.roles import (
    PlaylistRoles,
    SongRoles,
    UserRoles,
    guess_playlist_roles,
    guess_song_roles,
    guess_user_roles,
)

__all__ = [
    "ArtistEmbedding",
    "ArtistPopularityEncoder",
    "BlockScaler",
    "CircularEncoder",
    "DateEncoder",
    "GenreEncoder",
    "IdentityEncoder",
    "PlaylistRoles",
    "PopularityEncoder",
    "SongEmbedding",
    "SongRoles",
    "TagEncoder",
    "TextEncoder",
    "UserRoles",
    "VectorEncoder",
    "guess_playlist_roles",
    "guess_song_roles",
    "guess_user_roles",
    "make_playlist_features",
    "make_song_features",
    "make_user_features",
]
