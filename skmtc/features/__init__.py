"""Songs and users as numbers: scikit-learn transformers, fitted on one row per song or user."""

from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._artist_popularity import ArtistPopularityEncoder
from skmtc.features._circular import CircularEncoder
from skmtc.features._genre import GenreEncoder
from skmtc.features._popularity import PopularityEncoder
from skmtc.features._song_embedding import SongEmbedding

__all__ = [
    "ArtistEmbedding",
    "ArtistPopularityEncoder",
    "CircularEncoder",
    "GenreEncoder",
    "PopularityEncoder",
    "SongEmbedding",
]
