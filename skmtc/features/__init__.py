"""Songs and users as numbers: scikit-learn transformers, fitted on one row per song or user."""

from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._artist_popularity import ArtistPopularityEncoder
from skmtc.features._block_scaler import BlockScaler
from skmtc.features._circular import CircularEncoder
from skmtc.features._dates import DateEncoder
from skmtc.features._genre import GenreEncoder
from skmtc.features._identity import IdentityEncoder
from skmtc.features._popularity import PopularityEncoder
from skmtc.features._song_embedding import SongEmbedding
from skmtc.features._song_features import make_song_features
from skmtc.features._song_roles import SongRoles, guess_song_roles
from skmtc.features._tags import TagEncoder
from skmtc.features._text import TextEncoder
from skmtc.features._user_features import make_user_features
from skmtc.features._user_roles import UserRoles, guess_user_roles
from skmtc.features._vector import VectorEncoder

__all__ = [
    "ArtistEmbedding",
    "ArtistPopularityEncoder",
    "BlockScaler",
    "CircularEncoder",
    "DateEncoder",
    "GenreEncoder",
    "IdentityEncoder",
    "PopularityEncoder",
    "SongEmbedding",
    "SongRoles",
    "TagEncoder",
    "TextEncoder",
    "UserRoles",
    "VectorEncoder",
    "guess_song_roles",
    "guess_user_roles",
    "make_song_features",
    "make_user_features",
]
