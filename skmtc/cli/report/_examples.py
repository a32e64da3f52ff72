"""A few test playlists, and the songs that rankers recommend for them."""

import warnings
from dataclasses import dataclass, field

import numpy as np

from skmtc.cli.report._reasons import Training, facts, reasons
from skmtc.cli.report._song_names import shown

N_EXAMPLES = 3
N_RECOMMENDED = 10
N_SHOWN = 12
# Playlists of other sizes make poor examples; they are taken if there are no others.
SIZES = (3, 40)


@dataclass
class Example:
    """A test playlist.

    Attributes
    ----------
    name, owner : str
        What the playlist and its user are called; the owner may be empty.

    known : str
        What the rankers know of them.

    had : list of (str, str)
        Titles and artists of some songs that are known to be in playlists of the user.

    wanted : list of (str, str)
        Titles and artists of some songs to find.

    n_wanted : int
        Number of songs to find.

    lists : dict of str to list of Suggestion
        What rankers recommend, by name.
    """

    name: str
    owner: str
    known: str
    had: list[tuple[str, str]]
    wanted: list[tuple[str, str]]
    n_wanted: int
    lists: dict[str, list["Suggestion"]] = field(default_factory=dict)


@dataclass
class Suggestion:
    """A recommended song: its title and artist, whether it is a hit, and why it is there."""

    title: str
    artist: str
    is_hit: bool
    why: str


class Examples:
    """Test playlists of one split, chosen at random.

    Parameters
    ----------
    table : Table
        The whole table.

    features : Features
        What its columns are.

    names : SongNames
        What songs are called.

    train, test : ndarray of int
        Rows of the split.
    """

    def __init__(self, table, features, names, train, test):
        self._table, self._names, self._features = table, names, features
        self._test = table.X.iloc[test]
        self._train = Training(table.X.iloc[train], table, features.songs.artist)
        self._songs = table.X.drop_duplicates(table.song).set_index(table.song, drop=False)
        chosen = self._choose(np.random.default_rng(features.seed))
        self._queries = self._test.drop_duplicates(table.playlist)
        self._queries = self._queries[self._queries[table.playlist].isin(chosen)]
        self.found = {row[table.playlist]: self._example(row) for row in self._rows()}

    def inspect(self, ranker, train, test):
        """Return what a fitted ranker recommends for each of the playlists."""
        new = self._test.drop_duplicates(self._table.song)
        is_new = ~new[self._table.song].isin(ranker.songs_)
        # Without ids of queries, as all queries have the same candidates.
        ids = [label for label in (self._table.user, self._table.playlist) if label is not None]
        candidates = new.drop(columns=ids) if is_new.all() else None
        n_most = N_RECOMMENDED if candidates is None else min(N_RECOMMENDED, len(new))
        found = {}
        with warnings.catch_warnings():  # already warned about by the evaluation
            warnings.simplefilter("ignore")
            for position, row in enumerate(self._rows()):
                songs, _ = ranker.recommend(
                    self._queries.iloc[[position]],
                    n_recommendations=self._enough(ranker, row, n_most),
                    candidates=candidates,
                )
                found[row[self._table.playlist]] = self._suggestions(ranker, row, songs[0])
        return found

    def add(self, name, found):
        """Store what a ranker of some name recommends."""
        for playlist, suggestions in (found or {}).items():
            self.found[playlist].lists[name] = suggestions

    def _rows(self):
        """Return the queries as dicts, in which each value keeps its type."""
        columns = {c: self._queries[c].tolist() for c in self._queries}
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]

    def _choose(self, rng):
        sizes = self._test.groupby(self._table.playlist, sort=True).size()
        good = sizes.index[sizes.between(*SIZES)]
        good = good if len(good) else sizes.index
        return set(good[rng.permutation(len(good))[:N_EXAMPLES]])

    def _enough(self, ranker, row, n_most):
        """Return how many songs can be recommended, of which a known playlist has some."""
        n_had = (self._train.X[self._table.playlist] == row[self._table.playlist]).sum()
        return max(1, min(n_most, len(ranker.songs_) - int(n_had)))

    def _suggestions(self, ranker, row, songs):
        table = self._table
        wanted = set(self._test.loc[self._test[table.playlist] == row[table.playlist], table.song])
        why = reasons(ranker, self._asked(row, songs))
        artists = {} if self._train.artist is None else self._songs[self._train.artist]
        user = None if table.user is None else row[table.user]
        return [
            Suggestion(
                *self._names.song(song),
                song in wanted,
                reason or facts(self._train, song, user, artists),
            )
            for song, reason in zip(songs.tolist(), why, strict=True)
        ]

    def _asked(self, row, songs):
        """Return rows of songs with the ids and attributes of the query."""
        rows = self._songs.loc[songs].reset_index(drop=True)
        own = [c for c in (self._table.user, self._table.playlist) if c is not None]
        for column in (*own, *self._features.users.used):
            rows[column] = row[column]
        return rows.astype(self._test.dtypes.to_dict())

    def _example(self, row):
        table, names = self._table, self._names
        playlist, X = row[table.playlist], self._train.X
        owner = "" if table.user is None else shown(row[table.user])
        own = X[X[table.playlist] == playlist]
        known = f"known: {_count(len(own), 'other song')} of the playlist"
        if len(own) == 0 and table.user is not None:
            own = X[X[table.user] == row[table.user]]
            n_others = own[table.playlist].nunique()
            known = f"known: {_count(n_others, 'other playlist')} of the user"
        if len(own) == 0:
            values = [f"{c} {shown(row[c])}" for c in self._features.users.used if row[c] == row[c]]
            known = f"known of the user: {', '.join(values) or 'nothing'}"
        wanted = self._test[self._test[table.playlist] == playlist][table.song].unique()
        return Example(
            names.playlist(playlist),
            owner,
            known,
            [names.song(song) for song in own[table.song].unique()[:N_SHOWN]],
            [names.song(song) for song in wanted[:N_SHOWN]],
            len(wanted),
        )


def _count(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
