"""Song features for a catalogue, in one call."""

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from skmtc._typing import Column, Columns, Seed
from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._block_scaler import BlockScaler
from skmtc.features._circular import CircularEncoder
from skmtc.features._dates import DateEncoder
from skmtc.features._identity import IdentityEncoder
from skmtc.features._popularity_encoders import PopularityEncoder
from skmtc.features._song_embedding import SongEmbedding
from skmtc.features._tags import TagEncoder
from skmtc.features._text import TextEncoder
from skmtc.features._vector import VectorEncoder
from skmtc.features.recipes._scaling import scaled, scaled_numbers
from skmtc.features.roles import SongRoles, as_list, guess_song_roles, is_auto

# Every figure below was chosen on held-out training rows of 30Music, see the page of studies.
# Dimensions of tags: with song embeddings, fewer are as good.
TAG_DIMENSIONS = {"known": 64, "new": 128}
# Weights of blocks beside 1. Identities say exactly which songs belong together; where songs have
# vectors of their own, tags repeat part of what these say.
WEIGHTS = {
    "known": {"tags": 0.5, "tag_identity": 0.5, "identity": 3.0},
    "new": {"identity": 3.0},
}
# Most artists, albums and tags with a feature of their own: those of most songs. Rankers hold a
# weight for each of them and each playlist; with all artists and albums of 88,000 real songs, the
# weights of 10,000 playlists took gigabytes and half an hour.
MOST_IDENTITIES = 3000
# Songs that must have a tag, for the tag to be a feature of its own.
FEWEST_SONGS_OF_TAG = 5
# The most popular songs are far above the mean: clipped as low as other numbers, they would all
# be alike, and a list that starts with popular songs would start in any order.
POPULARITY_CLIP = 10.0


def make_song_features(
    columns: Any = None,
    *,
    new_songs: bool = False,
    numeric: Columns = "auto",
    key: Column | None = "auto",
    date: Columns = "auto",
    tags: Columns = "auto",
    artist: Column | None = "auto",
    identity: Columns = "auto",
    vector: Columns = "auto",
    text: Columns = None,
    song: Column | None = "auto",
    clip: float = 4.0,
    random_state: Seed = None,
) -> ColumnTransformer:
    """Make a transformer for all columns that describe songs.

    Each part is a block of features that is centred and scaled by `BlockScaler`, so
    that all blocks start equal and one set of penalties fits every catalogue. What is unknown, such
    as an artist that was not in training, is neutral.

    ================ ========= ================================================== ===========
    part             role      features                                           for
    ================ ========= ================================================== ===========
    ``numeric``      numeric   mean for missing values, standardised and clipped  all songs
    ``key``          key       cosine and sine (`CircularEncoder`)                all songs
    ``date``         date      years, standardised and clipped (`DateEncoder`)    all songs
    ``tags``         tags      tf-idf, reduced by an SVD (`TagEncoder`)           all songs
    ``artist``       artist    vectors learned from playlists (`ArtistEmbedding`) all songs
    ``vector``       vector    vectors that are given (`VectorEncoder`)           all songs
    ``text``         text      tf-idf of words, reduced (`TextEncoder`)           all songs
    ``identity``     artist,   one sparse feature per value (`IdentityEncoder`)   all songs
                     identity
    ``tag_identity`` tags      one sparse feature per tag (`TagEncoder`)          all songs
    ``popularity``   song      log popularity, standardised and clipped           known songs
    ``song``         song      vectors learned from playlists (`SongEmbedding`)   known songs
    ================ ========= ================================================== ===========

    The constant feature of the paper is added by the ranker, with `fit_intercept`. The two parts
    of identities are for `RidgeRanker`, which can fit thousands of sparse features; all other
    rankers leave them out.

    Parameters
    ----------
    columns : DataFrame, list of str, SongRoles or None, default=None
        Where roles that are not given come from: guessed from the content and names of a table
        (with one row per song, or a membership table), from names alone, or as they are in
        `SongRoles`. None: all roles are given, by name or by position.

    new_songs : bool, default=False
        What the features are for. False: songs of the training playlists, for new and known
        playlists and users; the popularity of songs and their own vectors are features. True:
        newly released songs, which have neither. A ranker that is fitted with them learns
        little from other features.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" takes what `guess_song_roles` finds, None no column; likewise
        below.

    key : str, int or None, default="auto"
        Column of musical keys, from 0 (C) to 11 (B). With None, a key is a number like others.

    date : list, str, int or None, default="auto"
        Columns of dates.

    tags : list, str, int or None, default="auto"
        Columns of tags, genres and other names, one or several in a cell.

    artist : str, int or None, default="auto"
        Column of artists.

    identity : list, str, int or None, default="auto"
        Columns of names with very many values beside the artist, such as albums and labels.

    vector : list, str, int or None, default="auto"
        Columns of vectors, such as audio or sentence embeddings: arrays of one length, or
        numbers that belong together.

    text : list, str, int or None, default=None
        Columns of free text, such as titles. "auto" takes those that `guess_song_roles` finds.

    song : str, int or None, default="auto"
        Column of song ids.

    clip : float, default=4.0
        Standardised numbers are clipped at plus and minus this; the popularity of songs at 10 or
        more, so that the most popular ones are not all alike.

    random_state : int, RandomState instance or None, default=None
        Random seed of embeddings and decompositions.

    Returns
    -------
    transformer : ColumnTransformer
        To be passed as `song_features`, or fitted with one row per song and a songs x playlists
        matrix of positions. Each part is a pipeline with the steps ``encode`` and ``scale``;
        `transformer_weights` names the weights of parts.

    See Also
    --------
    guess_song_roles : The guess about columns, to be read and changed.
    make_user_features : The same for users.

    Notes
    -----
    The paper uses metadata, audio features, genres, artist vectors by word2vec, and popularity,
    without scaling of blocks. See :ref:`song-features-study` for how defaults were chosen.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning
    (section "Features").

    Examples
    --------
    >>> from skmtc import MultitaskPlaylistRanker
    >>> from skmtc.datasets import make_playlists
    >>> from skmtc.features import make_song_features
    >>> X = make_playlists(random_state=0)
    >>> features = make_song_features(X, random_state=0)
    >>> [name for name, _, _ in features.transformers]
    ['numeric', 'tags', 'artist', 'identity', 'tag_identity', 'popularity', 'song']

    Parameters are reached by the names of parts and steps, and the weights of parts by
    `transformer_weights`, in a grid search too.

    >>> ranker = MultitaskPlaylistRanker(song_features=features, tol=0.01)
    >>> ranker = ranker.set_params(
    ...     song_features__artist__encode__vector_size=3,
    ...     song_features__transformer_weights={"tags": 0.5, "artist": 2.0},
    ... )
    >>> names = ranker.fit(X).feature_names_out_
    >>> [name for name in names if name.startswith("artist")]
    ['artist__artist_vector0', 'artist__artist_vector1', 'artist__artist_vector2']
    """
    given = {
        "song": song,
        "artist": artist,
        "key": key,
        "numeric": numeric,
        "date": date,
        "tags": tags,
        "identity": identity,
        "vector": vector,
        "text": text,
    }
    roles = _roles(columns, given)
    parts = _describing_parts(roles, new_songs, clip, random_state)
    if not new_songs:
        parts += _learned_parts(roles, clip, random_state)
    parts = [(name, part, labels) for name, part, labels in parts if labels]
    if not parts:
        raise ValueError(_no_features(roles, new_songs))
    names = [name for name, _, _ in parts]
    weights = {n: w for n, w in WEIGHTS["new" if new_songs else "known"].items() if n in names}
    # Names of parts are in the names of features: a table may have a column "popularity" too. One
    # sparse part makes the whole sparse: identities must never become dense.
    return ColumnTransformer(parts, transformer_weights=weights or None, sparse_threshold=1.0)


def _describing_parts(roles, new_songs, clip, random_state):
    """Return the parts made of what is known about a song, new or not."""
    n_components = TAG_DIMENSIONS["new" if new_songs else "known"]
    tags = TagEncoder(n_components=n_components, random_state=random_state)
    each_tag = TagEncoder(min_frequency=FEWEST_SONGS_OF_TAG, max_tags=MOST_IDENTITIES)
    artists = ArtistEmbedding(random_state=random_state)
    text = TextEncoder(random_state=random_state)
    artist = as_list(roles.artist)
    return [
        ("numeric", _block(*scaled_numbers(clip).steps), as_list(roles.numeric)),
        ("key", _block(("encode", CircularEncoder())), as_list(roles.key)),
        (
            "date",
            _block(("encode", DateEncoder()), *scaled_numbers(clip).steps),
            as_list(roles.date),
        ),
        ("tags", _block(("encode", tags)), as_list(roles.tags)),
        ("artist", _block(("encode", artists)), artist),
        ("vector", _block(("encode", VectorEncoder())), as_list(roles.vector)),
        ("text", _block(("encode", text)), as_list(roles.text)),
        (
            "identity",
            _block(("encode", IdentityEncoder(max_categories=MOST_IDENTITIES))),
            [*artist, *as_list(roles.identity)],
        ),
        ("tag_identity", _block(("encode", each_tag)), as_list(roles.tags)),
    ]


def _learned_parts(roles, clip, random_state):
    """Return the parts that only songs of training playlists have."""
    # Popularity keeps a standard deviation of 1: at the length of other blocks it lost .006 of AUC.
    popularity = scaled(max(clip, POPULARITY_CLIP), ("encode", PopularityEncoder(unseen="mean")))
    vectors = SongEmbedding(random_state=random_state)
    return [
        ("popularity", popularity, as_list(roles.song)),
        ("song", _block(("encode", vectors)), as_list(roles.song)),
    ]


def _block(*steps):
    return Pipeline([*steps, ("scale", BlockScaler())])


def _roles(columns, given):
    if isinstance(columns, SongRoles):
        # Roles that name text are taken at their word, although text is not guessed by default.
        left_open = [r for r, name in given.items() if is_auto(name) or (r, name) == ("text", None)]
        given = given | {role: getattr(columns, role) for role in left_open}
        columns = None
    return guess_song_roles(columns, **given)


def _no_features(roles, new_songs):
    if new_songs and roles.song is not None:
        return (
            "Features of new songs need columns that describe songs; got none beside the id "
            f"{roles.song!r}. Add columns such as artist, tags or year, or pass new_songs=False if "
            "the songs to rank are in the training playlists."
        )
    return (
        f"Song features need at least one column with a role; got none: {roles!r}. Name the "
        "columns to use, e.g. with `numeric`, `tags` or `artist`."
    )
