"""Rankers by name, made for a table."""

from importlib.util import find_spec

from skmtc import (
    CollocatedArtistRanker,
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
)
from skmtc import (
    make_ranker as make_recommended,
)
from skmtc.cli._errors import check_name

RANKERS = {
    "popularity": PopularityRanker,
    "same-artists": SameArtistRanker,
    "collocated-artists": CollocatedArtistRanker,
    "own-songs": OwnSongsRanker,
    "item-knn": ItemKNNRanker,
    "matrix-factorization": MatrixFactorizationRanker,
    "ridge": RidgeRanker,
    "pairwise": PairwiseRanker,
    "multitask": MultitaskPlaylistRanker,
    "multitask-history": MultitaskPlaylistRanker,
    "recommended": make_recommended,
}

ARTIST_RANKERS = ("same-artists", "collocated-artists")  # those that need a column of artists
# CPU seconds of fit and evaluation for 100,000 rows of 10,000 songs with artists, albums and tags
# (30Music), rounded; only for estimates of time.
SECONDS = {
    "popularity": 0.1,
    "same-artists": 1.0,
    "collocated-artists": 1.0,
    "own-songs": 0.5,
    "item-knn": 1.0,
    "matrix-factorization": 3.0,
    "ridge": 4.0,
    "pairwise": 9.0,
    "multitask": 5.0,
    "multitask-history": 16.0,
    "recommended": 55.0,
}


def fit_seconds(names, table):
    """Estimate the seconds that each ranker takes on a table, by name.

    Below 100,000 rows, the time is mainly that of features and of passes over all songs: with a
    quarter of the rows, fits of the recommended ranker took 85 % of the time.
    """
    rows = len(table.X) / 1e5
    share = table.X[table.song].nunique() / 1e4 * max(rows, rows**0.25)
    return {name: SECONDS[name] * share for name in names}


def available_rankers():
    """List the rankers whose packages are installed."""
    return [name for name in RANKERS if name != "matrix-factorization" or find_spec("implicit")]


def make_ranker(name, table, features, *, new_songs=False, parameters=None):
    """Make a ranker with the columns, features and seed that it has parameters for."""
    if name in ("recommended", "multitask-history"):
        ranker = _recommended(table, features, new_songs)
        if name == "multitask-history":
            ranker = _with_history(ranker, new_songs)
        return set_parameters(ranker, name, parameters or {})
    ranker = RANKERS[name]()
    asked = ranker.get_params(deep=False)
    given = dict(table.ids)
    if "artist" in asked and features.songs.artist is not None:
        given["artist"] = features.songs.artist
    if "song_features" in asked:
        made = features.transformers(new_songs=new_songs)
        given |= {parameter: made[parameter] for parameter in made if parameter in asked}
    if "random_state" in asked:
        given["random_state"] = features.seed
    if name == "multitask":
        given["n_jobs"] = -1  # it never changes the result
    return set_parameters(ranker.set_params(**given), name, parameters or {})


def _recommended(table, features, new_songs):
    """Make the ranker that suits the table in all settings."""
    if new_songs:
        features.transformers(new_songs=True)  # raise if no column describes songs
    ranker = make_recommended(table.X, random_state=features.seed, **table.ids)
    # Threads in each part, in place of a process for each; it never changes the result.
    for _, part in ranker.estimators:
        if "n_jobs" in part.get_params(deep=False):
            part.set_params(n_jobs=-1)
    return ranker


def _with_history(recommended, new_songs):
    """Return the multitask ranker with history terms, of which a recommended one is made."""
    return dict(recommended.estimators)["multitask_new" if new_songs else "multitask"]


def set_parameters(ranker, name, parameters):
    """Set parameters by name; raise for an unknown name, with the nearest known names."""
    known = [p for p in ranker.get_params() if p not in ("user", "playlist", "song")]
    for parameter in parameters:
        check_name(f"parameter of {name}", parameter, known)
    return ranker.set_params(**parameters)
