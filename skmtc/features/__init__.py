"""Songs and users as numbers: scikit-learn transformers, fitted on one row per song or user."""

from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._artist_popularity import ArtistPopularityEncoder
from skmtc.features._circular import CircularEncoder
from skmtc.features._genre import GenreEncoder
from skmtc.features._popularity import PopularityEncoder
from skmtc.features._song_embedding import SongEmbedding
from skmtc.features._song_features import make_song_features
from skmtc.features._song_roles import SongRoles, guess_song_roles
from skmtc.features._user_features import make_user_features
from skmtc.features._user_roles import UserRoles, guess_user_roles

__all__ = [
    "ArtistEmbedding",
    "ArtistPopularityEncoder",
    "CircularEncoder",
    "GenreEncoder",
    "PopularityEncoder",
    "SongEmbedding",
    "SongRoles",
    "UserRoles",
    "guess_song_roles",
    "guess_user_roles",
    "make_song_features",
    "make_user_features",
]
