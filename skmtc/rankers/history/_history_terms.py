"""Terms for what a user already has, which a ranker adds to its scores."""

import warnings
from collections.abc import Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import Array, IdArray, Index, Plain, Several, take
from skmtc._utils.sparse import one_hot, sum_sparse
from skmtc._utils.validation import check_choice, check_number
from skmtc.optimize import solve_pair_weights
from skmtc.rankers.history._hold_out import hold_outs
from skmtc.rankers.history._pair_features import SIMILARITIES, TERMS, PairFeatures
from skmtc.rankers.history._pairs import concatenate_pairs, pairs_of_situations
from skmtc.rankers.history._song_artists import append_song_artists, artist_codes, read_artists

# Kinds of songs and of playlists; each pair is a situation, with weights of its own.
WHAT = ("known songs", "new songs")
WHO = ("known playlist", "new playlist")

# Held-out playlists that weights are fitted on; more hardly change them.
MOST_PLAYLISTS = 2000
# Share of songs that each fold holds out, to fit the weight of "artist" for new songs.
SONG_SIZE = 0.1

# Compiled sums of rows rely on positive values in single precision.
NEIGHBORS = Array("songs", "songs", dtype=np.float32, sparse=True, above=0)


class HistoryTerms(VersionedState, BaseEstimator):
    """Terms for what the user already has, added to the scores of a ranker.

    A score that is linear in song features cannot say "ana has this song". These terms can:

    ================= ==========================================================================
    ``song``          how likely the user repeats the song
    ``artist``        how often the user has the artist, log(1 + times)
    ``co-occurrence`` how much the song goes together with the songs that the user has (new
                      playlists) or that the playlist has (known ones)
    ================= ==========================================================================

    Pass it as `history` to `MultitaskPlaylistRanker`, which fits the weights of the terms on
    held-out playlists and songs; the fitted terms are the ranker's `history_`. See :ref:`history`.

    Parameters
    ----------
    terms : tuple of str, default=("song", "artist", "co-occurrence")
        Terms to add. "artist" needs the column that the ranker's `artist` names.

    gain : float, default=2.0
        Factor of all terms. 1 maximises the likelihood of held-out songs; larger values favour the
        top of the list. Set it on a fitted `history_` to change scores without fitting again.

    l1 : float, default=0.02
        Penalty on the l1 norm of the weights, beside the mean negative log-likelihood of held-out
        songs. It sets the weight of a term that does not help to 0.

    similarity : {"cosine", "ridge"}, default="cosine"
        Similarity of songs for the term "co-occurrence": the cosine of the users (or playlists)
        that have two songs, or the weights of a ridge regression of each song on its neighbours,
        which does not count redundant neighbours twice.

    Attributes
    ----------
    coef_ : ndarray of shape (2, 2, n_terms)
        Weights of the terms before `gain`, for known and new songs (first axis) of known and new
        playlists (second axis); `weights_` shows them as a table.

    scale_ : ndarray of shape (2, 2)
        Scale of the ranker's own scores in each situation: held-out songs are distributed like
        exp(scale * (score + terms)).

    converged_ : bool
        Whether all fits without held-out playlists reached their tolerance.

    neighbors_ : tuple of two csr_array of shape (n_songs, n_songs) or None
        Similarities of songs among users, for new playlists, and among playlists, for known ones.
        Users with more than 500 songs do not count. None without "co-occurrence".

    repeat_rate_ : float
        Share of songs that users had in another playlist.

    propensity_ : ndarray of shape (n_songs,)
        How often each song is repeated by users who have it, relative to all songs.

    artists_, artist_of_song_ : ndarray or None
        Distinct artists, and the position among them of each song's, -1 for none; None without
        "artist".

    See Also
    --------
    skmtc.MultitaskPlaylistRanker : Ranker with the parameter `history`.

    Examples
    --------
    >>> from skmtc import HistoryTerms, MultitaskPlaylistRanker
    >>> from skmtc.datasets import make_playlists
    >>> X = make_playlists(repeat=0.4, random_state=0).drop(columns="year")
    >>> history = HistoryTerms(("song", "co-occurrence"), gain=1.5)
    >>> ranker = MultitaskPlaylistRanker(history=history, random_state=0).fit(X)
    >>> bool(ranker.history_.weights_.loc[("new playlist", "known songs"), "song"] > 0)
    True
    """

    # Fitted attributes that are None until a step of `fit` sets them.
    neighbors_: Any
    repeat_rate_: Any
    propensity_: Any

    _derived = ("_features",)
    _fitted_state = {
        "coef_": Array(2, 2, "terms"),
        "scale_": Array(2, 2),
        "converged_": Plain(bool, np.bool_),
        "artist_label_": Plain(str, Integral, optional=True),
        "artists_": IdArray("artists", ordered=False, optional=True),
        "artist_of_song_": Index("songs", into="artists", missing=True, optional=True),
        "neighbors_": Several((NEIGHBORS, NEIGHBORS), optional=True),
        "repeat_rate_": Plain(Real, at_least=0),
        "propensity_": Array("songs", at_least=0),
    }

    def __init__(
        self,
        terms: Sequence[str] = TERMS,
        *,
        gain: float = 2.0,
        l1: float = 0.02,
        similarity: str = "cosine",
    ) -> None:
        self.terms = terms
        self.gain = gain
        self.l1 = l1
        self.similarity = similarity

    def check(self) -> None:
        """Raise an error if a parameter is invalid."""
        names = self.terms
        is_tuple = isinstance(names, tuple | list) and len(names) > 0
        if not is_tuple or len(set(names)) < len(names) or not set(names) <= set(TERMS):
            raise ValueError(
                f"`terms` must be a tuple of distinct names among {list(TERMS)}; got {names!r}. "
                "Pass e.g. ('song', 'co-occurrence'), or history=None for no terms."
            )
        check_number("gain", self.gain, at_least=0)
        check_number("l1", self.l1, at_least=0)
        check_choice("similarity", self.similarity, SIMILARITIES)

    def learn(
        self,
        table: Any,
        fit_without: Any,
        *,
        artist: Any,
        random_state: Any,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the weights of the terms on held-out playlists and songs.

        1. For each fold, fit the ranker without the held-out memberships, and sample pairs of a
           held-out playlist and a candidate, with their scores and features.
        2. Fit the weights of each situation on its pairs of all folds.
        3. Bind the terms to all training playlists.

        Parameters
        ----------
        table : MembershipTable
            Training table.

        fit_without : callable
            Fits the ranker on what a `HoldOut` keeps. Returns a function of playlists and whether
            they count as known, for their weights; the vectors of all songs; and whether the fit
            converged.

        artist : str or int
            Column of artists.

        random_state : RandomState
            Random number generator.

        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        self : object
            The fitted terms.
        """
        n_terms = len(self.terms)
        self.coef_, self.scale_ = np.zeros((2, 2, n_terms)), np.ones((2, 2))
        self.artist_label_ = artist
        has_artists = "artist" in self.terms
        found: Any = read_artists(table.song_rows, artist) if has_artists else (None, None)
        self.artists_, self.artist_of_song_ = found
        self.neighbors_ = self.repeat_rate_ = self.propensity_ = None
        self.converged_ = True
        # 1. Pairs of each fold.
        song_artists = None
        if self.artists_ is not None:
            song_artists = one_hot(self.artist_of_song_, len(self.artists_))
        song_size = SONG_SIZE if "artist" in self.terms else 0.0
        pairs = []
        for fold in hold_outs(
            table.membership,
            table.user_of_playlist,
            MOST_PLAYLISTS,
            random_state,
            song_size=song_size,
        ):
            weights_of, song_vectors, converged = fit_without(fold)
            self.converged_ &= converged
            features = self._make_features(
                fold.kept, table.user_of_playlist, len(table.users), n_jobs
            )
            pairs.append(
                pairs_of_situations(
                    fold,
                    features,
                    weights_of,
                    song_vectors,
                    song_artists=song_artists,
                    n_terms=[len(self._terms_of(what)) for what in range(len(WHAT))],
                    rng=random_state,
                )
            )
        # 2. Weights of each situation.
        self._fit_weights(pairs)
        if not self.converged_:
            warnings.warn(
                "A fit of history terms without held-out playlists did not converge; the weights "
                "of the terms may be inexact. Increase `max_iter` or rescale the features.",
                ConvergenceWarning,
                stacklevel=2,
            )
        # 3. Features of all training playlists.
        return self.bind(table.membership, table.user_of_playlist, len(table.users), n_jobs=n_jobs)

    def bind(
        self, membership: Any, user_of_playlist: Any, n_users: int, *, n_jobs: int | None = None
    ) -> Self:
        """Compute the features of some playlists, which a stored terms object does not contain.

        Parameters
        ----------
        membership : csr_array of shape (n_playlists, n_songs)
            Stored entries are the songs of a playlist.

        user_of_playlist : ndarray of shape (n_playlists,)
            Code of the owner of each playlist.

        n_users : int
            Number of users.

        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        self : object
            The terms.
        """
        features = self._make_features(membership, user_of_playlist, n_users, n_jobs)
        self.neighbors_ = features.neighbors
        self.repeat_rate_, self.propensity_ = features.repeat_rate, features.propensity
        self._features = features
        return self

    @property
    def is_bound(self) -> bool:
        """Whether `bind` was called."""
        return hasattr(self, "_features")

    def is_bound_to(self, membership: Any, user_of_playlist: Any) -> bool:
        """Check whether the terms are bound to these playlists.

        Parameters
        ----------
        membership : csr_array of shape (n_playlists, n_songs)
            The playlists.

        user_of_playlist : ndarray of shape (n_playlists,)
            Their owners.

        Returns
        -------
        is_bound : bool
            Whether `bind` was called with these objects; equal copies do not count.
        """
        if not self.is_bound:
            return False
        features = self._features
        return features.source is membership and features.user_of_playlist is user_of_playlist

    @property
    def weights_(self) -> pd.DataFrame:
        """The weights of the terms, one row per situation."""
        situations = pd.MultiIndex.from_product([WHAT, WHO], names=["what", "who"])
        table = self.coef_.reshape(len(situations), -1)
        return pd.DataFrame(table, situations, list(self.terms)).swaplevel().sort_index()

    def changes_scores(self) -> bool:
        """Check whether any term has a weight.

        Returns
        -------
        changes : bool
            Whether scores have more than inner products of features and weights.
        """
        return bool(self.coef_.any()) and self.gain != 0

    def scores(self, queries: Any, songs: Any) -> list[Any]:
        """Return what the terms add to the scores of songs, as sparse matrices to be summed.

        Parameters
        ----------
        queries : Queries
            The queries.

        songs : Songs
            The songs to score.

        Returns
        -------
        parts : list of csr_array of shape (n_queries, n_songs)
            Empty if no term has a weight.
        """
        return self._weighted(queries, songs, self.coef_) if self.changes_scores() else []

    def scores_by_term(self, queries: Any, songs: Any) -> dict[str, Any]:
        """Return what each term adds to the scores of songs, by name.

        Parameters
        ----------
        queries : Queries
            The queries.

        songs : Songs
            The songs to score.

        Returns
        -------
        scores : dict of str to csr_array of shape (n_queries, n_songs)
            One matrix per term.
        """
        shape = len(queries), len(songs)
        only = np.eye(len(self.terms))
        return {
            name: sum_sparse(self._weighted(queries, songs, self.coef_ * only[term]), shape)
            for term, name in enumerate(self.terms)
        }

    def query_vectors(self, queries: Any) -> list[Any]:
        """Return what the terms add for each known song, and for a new song of each artist.

        Parameters
        ----------
        queries : Queries
            The queries.

        Returns
        -------
        vectors : list of csr_array of shape (n_queries, n_songs) and (n_queries, n_artists)
            Columns to append to the query vectors of the ranker.
        """
        n_songs = len(self.propensity_)
        known = sum_sparse(self._of_known_songs(queries, self.coef_), (len(queries), n_songs))
        return [known, self._of_artists(queries, self.coef_)]

    def song_vectors(self, songs: Any) -> list[Any]:
        """Return the one-hot vectors of known songs, and of the artists of new songs.

        Their inner products with `query_vectors` are the added scores.

        Parameters
        ----------
        songs : Songs
            The songs to score.

        Returns
        -------
        vectors : list of csr_array of shape (n_songs, n_known) and (n_songs, n_artists)
            Columns to append to the song vectors of the ranker.
        """
        codes = np.full(len(songs), -1)
        n_artists = 0 if self.artists_ is None else len(self.artists_)
        if n_artists and songs.is_new.any():
            new = songs.new_rows
            codes[songs.is_new] = artist_codes(new, self.artist_label_, self.artists_)
        return [one_hot(songs.codes, len(self.propensity_)), one_hot(codes, n_artists)]

    def without(self, kept: Any) -> Self:
        """Return terms for the users, playlists and songs that stay; `bind` sets their playlists.

        Parameters
        ----------
        kept : dict of str to ndarray of bool
            Which positions stay, by dimension.

        Returns
        -------
        history : HistoryTerms
            A copy with the same weights.
        """
        kept = {"songs": kept["songs"]} if "songs" in kept else {}
        if kept and self.artists_ is not None:
            artists = np.arange(len(self.artists_))
            kept["artists"] = np.isin(artists, self.artist_of_song_[kept["songs"]])
        made = copy(self)
        made.__dict__.update(take(self, kept))
        return made

    def appended(self, appended: Any) -> Self:
        """Return terms with the rows of `partial_fit` appended.

        Until the next fit, new songs have no neighbours, and the mean propensity of all songs.

        Parameters
        ----------
        appended : AppendedTable
            Known and new rows.

        Returns
        -------
        history : HistoryTerms
            A copy with the same weights.
        """
        grown = type(self)(**self.get_params())
        for name in ("coef_", "scale_", "converged_", "repeat_rate_", "artist_label_"):
            setattr(grown, name, getattr(self, name))
        source = appended.song_source
        known: Any = self.artists_, self.artist_of_song_
        if self.artists_ is not None:
            known = append_song_artists(known[0], known[1], appended, self.artist_label_)
        grown.artists_, grown.artist_of_song_ = known
        grown.propensity_ = np.where(source < 0, 1.0, self.propensity_[source])
        grown.neighbors_ = None
        if self.neighbors_ is not None:
            places = one_hot(source, len(self.propensity_))
            grown.neighbors_ = tuple(csr_array(places @ n @ places.T) for n in self.neighbors_)
        return grown.bind(appended.membership, appended.user_of_playlist, len(appended.users))

    def _make_features(self, membership, user_of_playlist, n_users, n_jobs=None):
        return PairFeatures(
            self.terms,
            membership,
            user_of_playlist,
            n_users,
            artist_of_song=self.artist_of_song_,
            similarity=self.similarity,
            neighbors=self.neighbors_,
            repeat_rate=self.repeat_rate_,
            propensity=self.propensity_,
            n_jobs=n_jobs,
        )

    def _fit_weights(self, pairs):
        """Fit the weights of each situation on the pairs of all folds."""
        for what in range(len(WHAT)):
            used = self._terms_of(what)
            for who in range(len(WHO)):
                parts = [fold[what, who] for fold in pairs if (what, who) in fold]
                if parts and sum(len(part.sizes) for part in parts):
                    fitted = solve_pair_weights(concatenate_pairs(parts), self.l1)
                    self.scale_[what, who], self.coef_[what, who, used] = fitted
                elif what:  # no song was held out: use the weights of known songs
                    self.scale_[what, who] = self.scale_[0, who]
                    self.coef_[what, who, used] = self.coef_[0, who, used]

    def _terms_of(self, what):
        """Return the positions of the terms that apply to known songs (0) or to new ones (1)."""
        names = self.terms if what == 0 else [name for name in self.terms if name == "artist"]
        return [self.terms.index(name) for name in names]

    def _weighted(self, queries, songs, coef):
        """Return weighted terms; `coef` has the shape of `coef_`."""
        parts = self._of_known_songs(queries, coef)
        if songs.is_catalogue:
            return parts
        known, artists = (csr_array(picks.T) for picks in self.song_vectors(songs))
        of_artists = self._of_artists(queries, coef)
        return [*(csr_array(part @ known) for part in parts), csr_array(of_artists @ artists)]

    def _of_known_songs(self, queries, coef):
        parts = []
        who = _who_asks(queries)
        for kind in range(len(WHO)):
            asks = (who == kind) & (queries.users >= 0)
            if asks.any():
                users, playlists = (
                    np.where(asks, c, -1) for c in (queries.users, queries.playlists)
                )
                parts += self._features.scores(users, playlists, self.gain * coef[0, kind])
        return parts

    def _of_artists(self, queries, coef):
        features = self._features.of_artists(queries.users)
        if "artist" not in self.terms:
            return features
        weights = self.gain * coef[1, _who_asks(queries), self.terms.index("artist")]
        return csr_array(features * weights[:, None])


def read_history(history):
    """Return the terms that a parameter `history` stands for: None, terms, or names of terms."""
    if history is None or isinstance(history, HistoryTerms):
        return history
    names = (history,) if isinstance(history, str) else history
    if not isinstance(names, tuple | list) or not names:
        raise ValueError(
            f"`history` must be None, HistoryTerms or names of terms; got {history!r}. Pass e.g. "
            "HistoryTerms(('song', 'co-occurrence'))."
        )
    return HistoryTerms(tuple(names))


def append_vectors(vectors, parts):
    """Append sparse columns to vectors."""
    return csr_array(hstack([csr_array(vectors), *parts]))


def _who_asks(queries):
    """Return the position in `WHO` of each query."""
    return (queries.playlists < 0).astype(np.intp)
