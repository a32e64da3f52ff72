"""Scores that know what a user already has."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from sklearn.utils import check_random_state

from skmtc._checks import check_number
from skmtc._table import Ids, column_label
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize._pair_weights import solve_pair_weights
from skmtc.rankers._history_pairs import history_pairs, join_pairs
from skmtc.rankers._history_terms import TERMS, HistoryTerms
from skmtc.rankers._rehearsal import rehearsals
from skmtc.rankers._sparse import one_hot, sum_sparse

# Held-out playlists that weights of terms are fitted on; more hardly change them.
MOST_REHEARSED = 2000

# Weights that are fitted without what is held out need not be exact.
REHEARSAL_TOL = 1e-2


class HistoryMixin:
    """History terms of a ranker with the parameters `history`, `history_gain` and `artist`.

    The weights of terms are fitted in a second stage, on scores of memberships that were held
    out, of new playlists (first row of `history_coef_`) and of known ones (second row).
    """

    def _check_history(self):
        names = self.history
        good = isinstance(names, tuple | list) and len(set(names)) == len(names)
        if not good or not set(names) <= set(TERMS):
            raise ValueError(
                f"`history` must be a tuple of distinct names among {list(TERMS)}; got {names!r}. "
                "Pass e.g. ('song', 'collocation'), or () for none."
            )
        if names and self.loss != "classification":
            raise ValueError(
                "`history` needs loss='classification', because scores of a ranking loss have no "
                f"level that terms could be added to; got loss={self.loss!r}. Pass history=()."
            )

        check_number("history_gain", self.history_gain, at_least=0)

    def _fit_history(self, table, frame):
        """Fit the weights of terms, with all other weights held."""
        self._store_no_history()
        if not self.history:
            return
        self.history_coef_ = np.zeros((2, len(self.history)))
        self.artists_, self.artist_of_song_ = self._fit_history_artists(table)
        rng = check_random_state(check_random_state(self.random_state).randint(2**31 - 1))
        drawn = rehearsals(table.membership, table.user_of_playlist, MOST_REHEARSED, rng)
        found = [self._rehearse(rehearsal, table, frame, rng) for rehearsal in drawn]
        for kind, parts in enumerate(zip(*found, strict=True)):
            self.history_scale_[kind], self.history_coef_[kind] = solve_pair_weights(
                join_pairs(parts), self.shared_l1
            )
        self._make_terms(table.membership, table.user_of_playlist, len(table.users))

    def _store_no_history(self):
        """Store that nothing is added to scores, whatever an earlier fit has stored."""
        self.history_coef_, self.history_scale_ = np.zeros((2, 0)), np.ones(2)
        self.artists_ = self.artist_of_song_ = self.collocation_ = None
        self.repeat_rate_ = self.repeat_propensity_ = None
        vars(self).pop("_history_terms", None)

    def _rehearse(self, rehearsal, table, frame, rng):
        """Give the pairs of new and of known playlists that are held out."""
        owners = table.user_of_playlist
        kept = replace(table, membership=rehearsal.kept)
        novice = self._fitted_without_held(rehearsal, kept, frame)
        terms = HistoryTerms(
            self.history,
            rehearsal.kept,
            owners,
            len(table.users),
            artist_of_song=self.artist_of_song_,
            n_jobs=self.n_jobs,
        )
        found = []
        for rows, is_known in ((rehearsal.new, False), (rehearsal.known, True)):
            weights = novice.shared_coef_ + novice.user_coef_[owners[rows]]
            if is_known:
                weights = weights + novice.playlist_coef_[rows]
            pairs = history_pairs(
                terms,
                (owners[rows], rows if is_known else np.full(len(rows), -1)),
                weights,
                novice.song_vectors_,
                held=rehearsal.held[rows],
                seen=rehearsal.kept[rows],
                rng=rng,
            )
            found.append(pairs)
        return found

    def _fitted_without_held(self, rehearsal, kept, frame):
        """Fit features, and the users concerned, on what is kept; give a ranker with these."""
        novice = copy(self)
        features = self._in_working_precision(novice._fit_song_features(kept, frame))
        owners = kept.user_of_playlist
        users = np.unique(owners[np.concatenate([rehearsal.new, rehearsal.known])])
        rows = np.flatnonzero(np.isin(owners, users) & (np.diff(rehearsal.kept.indptr) > 0))
        objective = MultitaskObjective(
            features,
            rehearsal.kept[rows],
            np.searchsorted(users, owners[rows]),
            **self._problem_parameters(kept),
        )
        result = solve_prox_newton(
            objective, tol=max(self.tol, REHEARSAL_TOL), max_iter=self.max_iter
        )
        novice.shared_coef_, user_coef, playlist_coef = objective.split(result.coef)
        novice.user_coef_ = np.zeros((len(kept.users), objective.n_features))
        novice.user_coef_[users] = user_coef
        novice.playlist_coef_ = np.zeros((len(owners), objective.n_features))
        novice.playlist_coef_[rows] = playlist_coef
        return novice

    def _fit_history_artists(self, table):
        """Give the distinct artists, and the code of each song's; -1 for none."""
        if "artist" not in self.history:
            return None, None
        label = column_label(table.song_rows, self.artist)
        if label is None:
            raise ValueError(
                "The history term 'artist' needs a column of artists; got no column "
                f"{self.artist!r}. Set `artist`, or leave the term out of `history`."
            )
        artists = table.song_rows[label]
        named = artists.notna().to_numpy()
        codes = np.full(len(artists), -1)
        if not named.any():
            return np.empty(0, dtype=object), codes
        ids, codes[named] = Ids.factorize(artists[named], "artist")
        return ids.values, codes

    def _history_artist_codes(self, rows):
        """Give the codes of the artists of new songs; -1 for a new one or none."""
        codes = np.full(len(rows), -1)
        label = column_label(rows, self.artist)
        if label is not None and len(self.artists_):
            named = rows[label].notna().to_numpy()
            if named.any():
                codes[named] = Ids(self.artists_, "artist").codes(rows[label][named])
        return codes

    def _make_terms(self, membership, user_of_playlist, n_users):
        terms = HistoryTerms(
            self.history,
            membership,
            user_of_playlist,
            n_users,
            artist_of_song=self.artist_of_song_,
            neighbors=self.collocation_,
            repeat_rate=self.repeat_rate_,
            propensity=self.repeat_propensity_,
            n_jobs=self.n_jobs,
        )
        self.collocation_ = terms.neighbors
        self.repeat_rate_, self.repeat_propensity_ = terms.repeat_rate, terms.propensity
        self._history_terms = terms

    @property
    def _terms(self):
        if not hasattr(self, "_history_terms"):  # after unpickling
            self._make_terms(self.membership_, self.user_of_playlist_, len(self.users_))
        return self._history_terms

    def _keep_rows(self, users, playlists):
        super()._keep_rows(users, playlists)
        vars(self).pop("_history_terms", None)  # made again from the playlists that stay

    def _adds_to_scores(self):
        """Tell whether scores have more than inner products."""
        return bool(self.history_coef_.any()) and self.history_gain != 0

    def _added_scores(self, queries, songs):
        """Give what history adds to the scores of songs for queries, as parts of a sum."""
        if not self._adds_to_scores():
            return []
        return self._weighted_terms(queries, songs, self.history_gain * self.history_coef_)

    def _added_by_term(self, queries, songs):
        """Give what each term adds, by name, for explanations of scores."""
        every = self.history_gain * self.history_coef_
        shape = len(queries), len(songs)
        found = {}
        for term, name in enumerate(self.history):
            coef = every * (np.arange(every.shape[1]) == term)
            found[name] = sum_sparse(self._weighted_terms(queries, songs, coef), shape)
        return found

    def _weighted_terms(self, queries, songs, coef):
        """Give weighted terms for songs; `coef` is of the shape of `history_coef_`."""
        parts = self._scores_of_known(queries, coef)
        if songs.is_catalogue:
            return parts
        known, artists = (csr_array(picks.T) for picks in self._picks(songs))
        of_artists = self._scores_of_artists(queries, coef)
        return [*(csr_array(part @ known) for part in parts), csr_array(of_artists @ artists)]

    def _scores_of_known(self, queries, coef):
        """Give weighted terms for all songs of the catalogue."""
        parts = []
        for is_known in (False, True):
            asks = ((queries.playlists >= 0) == is_known) & (queries.users >= 0)
            if asks.any():
                users, playlists = (
                    np.where(asks, c, -1) for c in (queries.users, queries.playlists)
                )
                parts += self._terms.scores(users, playlists, coef[int(is_known)])
        return parts

    def _scores_of_artists(self, queries, coef):
        """Give what history adds for a new song of each artist."""
        return self._terms.artist_scores(queries.users, coef[(queries.playlists >= 0).astype(int)])

    def _picks(self, songs):
        """Give rows per song: with a 1 for the song itself, and for the artist of a new one."""
        own = one_hot(songs.codes, len(self.songs_))
        n_artists = 0 if self.artists_ is None else len(self.artists_)
        artists = np.full(len(songs), -1)
        if n_artists and songs.is_new.any():
            artists[songs.is_new] = self._history_artist_codes(songs.new_rows)
        return own, one_hot(artists, n_artists)

    def _public_query_vectors(self, queries):
        """Append what history adds for each known song and for each artist."""
        vectors = self._query_vectors(queries)
        if not self._adds_to_scores():
            return vectors
        coef = self.history_gain * self.history_coef_
        known = sum_sparse(self._scores_of_known(queries, coef), (len(queries), len(self.songs_)))
        artists = self._scores_of_artists(queries, coef)
        return csr_array(hstack([csr_array(vectors), known, artists]))

    def _public_song_vectors(self, songs):
        vectors = self._song_vectors(songs)
        if not self._adds_to_scores():
            return vectors
        return csr_array(hstack([csr_array(vectors), *self._picks(songs)]))

    def _extended_history(self, extension):
        """Give the attributes of history terms with the new rows of `partial_fit`."""
        if not self.history_coef_.shape[1]:
            return {}
        artists, artist_of_song = self._joined_history_artists(extension)
        # New songs have no neighbours, and the propensity of all, before the next fit.
        source, neighbors = extension.song_source, self.collocation_
        if neighbors is not None:
            places = one_hot(source, neighbors[0].shape[0])
            neighbors = tuple(csr_array(places @ n @ places.T) for n in neighbors)
        terms = HistoryTerms(
            self._terms.names,
            extension.membership,
            extension.user_of_playlist,
            len(extension.users),
            artist_of_song=artist_of_song,
            neighbors=neighbors,
            repeat_rate=self.repeat_rate_,
            propensity=np.where(source < 0, 1.0, self.repeat_propensity_[source]),
        )
        return {
            "artists_": artists,
            "artist_of_song_": artist_of_song,
            "collocation_": terms.neighbors,
            "repeat_propensity_": terms.propensity,
            "_history_terms": terms,
        }

    def _joined_history_artists(self, extension):
        """Give the artists and their songs with new ones, which follow the known ones."""
        if self.artists_ is None:
            return None, None
        is_new = extension.song_source < 0
        codes = np.full(len(is_new), -1)
        codes[~is_new] = self.artist_of_song_[extension.song_source[~is_new]]
        label = column_label(extension.song_rows, self.artist)
        if label is None or not is_new.any():
            return self.artists_, codes
        new = extension.song_rows[label]
        found, values = pd.factorize(pd.concat([pd.Series(self.artists_), new], ignore_index=True))
        codes[is_new] = found[len(self.artists_) :]
        return np.asarray(values), codes
