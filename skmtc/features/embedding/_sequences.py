"""Playlists as sequences of tokens: the sentences that embeddings are learned from."""

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array


class TokenSequences:
    """Playlists as sequences of token codes, in playlist order.

    Parameters
    ----------
    membership : csr_array of shape (n_songs, n_playlists)
        1-based positions of songs in playlists.

    token_of_song : ndarray of shape (n_songs,)
        Code of each song's token, such as its artist; -1 for a song without, which is passed over.
    """

    def __init__(self, membership, token_of_song):
        self.membership = membership
        self.token_of_song = token_of_song

    @cached_property
    def _in_order(self):
        """Tokens and starts: only methods that learn from the order of playlists need them."""
        positions = self.membership.tocoo()
        # Rows order songs of equal position, so that the result never depends on storage.
        order = np.lexsort((positions.row, positions.data, positions.col))
        tokens, playlists = self.token_of_song[positions.row[order]], positions.col[order]
        has_token = tokens >= 0
        lengths = np.bincount(playlists[has_token], minlength=self.membership.shape[1])
        return tokens[has_token], np.concatenate([[0], np.cumsum(lengths)])

    @property
    def tokens(self):
        """Tokens of all playlists, one playlist after the other."""
        return self._in_order[0]

    @property
    def starts(self):
        """Where each playlist starts in `tokens`."""
        return self._in_order[1]

    def __len__(self):
        return self.membership.shape[1]

    def pieces(self, longest):
        """Yield the tokens of each playlist, in pieces of at most `longest`."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            for piece in range(start, stop, longest):
                yield self.tokens[piece : min(piece + longest, stop)]

    def count(self, min_count=1, dtype=np.float64):
        """Count tokens in playlists.

        Parameters
        ----------
        min_count : int, default=1
            Tokens that occur fewer times are left out.

        dtype : dtype, default=float64
            Type of the counts.

        Returns
        -------
        tokens : ndarray of shape (n_tokens,)
            Tokens that occur at least `min_count` times, sorted.

        counts : csr_array of shape (n_playlists, n_tokens)
            How often each playlist holds each of them.
        """
        # The type of the memberships' indices, else scipy makes all indices 64 bits wide.
        index = self.membership.indices.dtype
        songs = np.flatnonzero(self.token_of_song >= 0).astype(index)
        codes = self.token_of_song[songs].astype(index)
        held = csr_array(
            (
                np.ones(self.membership.nnz, dtype=dtype),
                self.membership.indices,
                self.membership.indptr,
            ),
            shape=self.membership.shape,
        )
        songs_of_token = csr_array(
            (np.ones(len(songs), dtype=dtype), (codes, songs)),
            shape=(codes.max(initial=-1) + 1, held.shape[0]),
        )
        counts = csr_array(songs_of_token @ held)
        often = np.asarray(counts.sum(axis=1)) >= max(min_count, 1)
        counts = csr_array(counts[np.flatnonzero(often)].T)
        counts.sort_indices()
        return np.flatnonzero(often), counts
