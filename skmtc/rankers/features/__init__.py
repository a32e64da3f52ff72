"""Song and user features of rankers: making, checking and comparing them."""

from skmtc.rankers.features._attributes import (
    append_attributes,
    attributes_of,
    fit_attributes,
    learn_features,
)
from skmtc.rankers.features._columns import Columns
from skmtc.rankers.features._content_model import fit_content_model
from skmtc.rankers.features._feature_ranker import WEIGHTS, FeatureRanker
from skmtc.rankers.features._matrix import numeric_song_columns
from skmtc.rankers.features._query_vectors import (
    first_known,
    sum_of_weights,
    weigh_similar_users,
    weights_of_similar_playlists,
)
from skmtc.rankers.features._song_vectors import (
    append_song_vectors,
    fit_song_features,
    largest_feature,
    vectors_of_new_songs,
)

__all__ = [
    "WEIGHTS",
    "Columns",
    "FeatureRanker",
    "append_attributes",
    "append_song_vectors",
    "attributes_of",
    "first_known",
    "fit_attributes",
    "fit_content_model",
    "fit_song_features",
    "largest_feature",
    "learn_features",
    "numeric_song_columns",
    "sum_of_weights",
    "vectors_of_new_songs",
    "weigh_similar_users",
    "weights_of_similar_playlists",
]
