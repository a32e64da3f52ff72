"""The song features of the paper, in one call."""

from sklearn.compose import ColumnTransformer

from skmtc._checks import check_choice
from skmtc.features._artist_embedding import ArtistEmbedding
from skmtc.features._artist_popularity import ArtistPopularityEncoder
from skmtc.features._circular import CircularEncoder
from skmtc.features._genre import GenreEncoder
from skmtc.features._popularity import PopularityEncoder
from skmtc.features._roles import as_list, is_auto
from skmtc.features._scaling import scaled, scaled_numbers
from skmtc.features._song_embedding import SongEmbedding
from skmtc.features._song_roles import SongRoles, guess_song_roles

EMBEDDINGS = ("artist", "song", "both")
# The most popular songs are far above the mean: clipped as low as other numbers, they would all
# be alike, and a list that starts with popular songs would start in any order.
POPULARITY_CLIP = 10.0


def make_song_features(
    columns=None,
    *,
    numeric="auto",
    key="auto",
    genre="auto",
    artist="auto",
    song="auto",
    popularity=True,
    embedding=True,
    clip=4.0,
    random_state=None,
):
    """Make the transformer of the paper's song features.

    ===================== ========= ==========================================================
    name of the part      role      features
    ===================== ========= ==========================================================
    ``numeric``           `numeric` medians for missing values, standardised and clipped
    ``key``               `key`     cosine and sine (`CircularEncoder`)
    ``genre``             `genre`   one-hot (`GenreEncoder`)
    ``artist``            `artist`  vectors learned from playlists (`ArtistEmbedding`)
    ``artist_popularity`` `artist`  log playcount of the artist, standardised and clipped
    ``popularity``        `song`    log popularity of the song, standardised and clipped
    ``song``              `song`    vectors learned from playlists (`SongEmbedding`)
    ===================== ========= ==========================================================

    The constant feature of the paper is added by the ranker, with `fit_intercept`.

    Parameters
    ----------
    columns : DataFrame, list of str, SongRoles or None, default=None
        Where roles that are not given come from: guessed from the types and names of a table (with
        one row per song, or a membership table), from names alone, or as they are in `SongRoles`.
        None: all roles are given, by name or by position.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" stands for what `guess_song_roles` finds, None for none; so
        below.

    key : str, int or None, default="auto"
        Column of musical keys, from 0 (C) to 11 (B). With None, a key is a number like others.

    genre : str, int or None, default="auto"
        Column of genres.

    artist : str, int or None, default="auto"
        Column of artists.

    song : str, int or None, default="auto"
        Column of song ids.

    popularity : bool, default=True
        Whether the popularity of the song is a feature. False makes the set for new songs, which
        have none.

    embedding : bool, "artist", "song" or "both", default=True
        Whose vectors are features. True stands for those of artists where there are artists, else
        for those of songs, unless the set is for new songs.

    clip : float, default=4.0
        Standardised features are clipped at plus and minus this; the popularity of songs at 10 or
        more, so that the most popular ones are not all alike.

    random_state : int, RandomState instance or None, default=None
        Seed of the embeddings.

    Returns
    -------
    transformer : ColumnTransformer
        To be passed as `song_features`, or fitted with one row per song and a songs x playlists
        matrix of positions.

    See Also
    --------
    guess_song_roles : The guess about columns, to be read and changed.
    make_user_features : The same for users.

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
    ['numeric', 'genre', 'artist', 'artist_popularity', 'popularity']

    Parameters are reached by the names of the parts, in a grid search too.

    >>> ranker = MultitaskPlaylistRanker(song_features=features, tol=0.01)
    >>> ranker = ranker.set_params(song_features__artist__vector_size=3).fit(X)
    >>> ranker.feature_names_out_[-6:].tolist()
    ['artist__artist_vector0', 'artist__artist_vector1', 'artist__artist_vector2',
     'artist_popularity__artist_popularity', 'popularity__song_popularity', 'constant']
    """
    given = {"numeric": numeric, "key": key, "genre": genre, "artist": artist, "song": song}
    roles = _roles(columns, given)
    embedded = _embedded(embedding, roles, popularity)
    parts = [
        ("numeric", scaled_numbers(clip), roles.numeric),
        ("key", CircularEncoder(), roles.key),
        ("genre", GenreEncoder(), roles.genre),
    ]
    if "artist" in embedded:
        parts.append(("artist", ArtistEmbedding(random_state=random_state), roles.artist))
    encoder = ArtistPopularityEncoder(log=True)
    parts.append(("artist_popularity", scaled(clip, ("encode", encoder)), roles.artist))
    if popularity:
        _check_role(roles, "song", "popularity=True", "popularity=False")
        encoder, high = ("encode", PopularityEncoder()), max(clip, POPULARITY_CLIP)
        parts.append(("popularity", scaled(high, encoder), roles.song))
    if "song" in embedded:
        parts.append(("song", SongEmbedding(random_state=random_state), roles.song))
    parts = [(name, part, as_list(labels)) for name, part, labels in parts if as_list(labels)]
    if not parts:
        raise ValueError(
            f"Song features need at least one column with a role; got none: {roles}. Name the "
            "columns to use, e.g. with `numeric`, `genre` or `artist`."
        )
    # Names of parts stay in the names of features: a table may have an "artist_popularity" too.
    return ColumnTransformer(parts, sparse_threshold=0)


def _roles(columns, given):
    if isinstance(columns, SongRoles):
        own = {role: getattr(columns, role) for role in given}
        given = {role: own[role] if is_auto(name) else name for role, name in given.items()}
        columns = None
    return guess_song_roles(columns, **given)


def _embedded(embedding, roles, popularity):
    """Give the roles that get vectors."""
    if isinstance(embedding, str):
        check_choice("embedding", embedding, EMBEDDINGS)
        wanted = ("artist", "song") if embedding == "both" else (embedding,)
        for role in wanted:
            _check_role(roles, role, f"embedding={embedding!r}", "embedding=False")
        return wanted
    if not embedding:
        return ()
    if roles.artist is not None:
        return ("artist",)
    return ("song",) if popularity and roles.song is not None else ()


def _check_role(roles, role, asked, instead):
    if getattr(roles, role) is None:
        raise ValueError(
            f"With {asked} the {role} column must be known; got {role}=None. Name the column with "
            f"`{role}`, or pass {instead}."
        )
