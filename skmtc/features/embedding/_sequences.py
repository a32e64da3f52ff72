"""Playlists as sequences of tokens: the sentences that embeddings are learned from."""

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

    Attributes
    ----------
    tokens : ndarray of shape (n_memberships,)
        Tokens of all playlists, one playlist after the other.

    starts : ndarray of shape (n_playlists + 1,)
        Where each playlist starts in `tokens`.
    """

    def __init__(self, membership, token_of_song):
        positions = membership.tocoo()
        # Rows order songs of equal position, so that the result never depends on storage.
        order = np.lexsort((positions.row, positions.data, positions.col))
        tokens, playlists = token_of_song[positions.row[order]], positions.col[order]
        has_token = tokens >= 0
        lengths = np.bincount(playlists[has_token], minlength=membership.shape[1])
        self.tokens = tokens[has_token]
        self.starts = np.concatenate([[0], np.cumsum(lengths)])

    def __len__(self):
        return len(self.starts) - 1

    def pieces(self, longest):
        """Yield the tokens of each playlist, in pieces of at most `longest`."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            for piece in range(start, stop, longest):
                yield self.tokens[piece : min(piece + longest, stop)]

    def count(self, min_count=1):
        """Count tokens in playlists.

        Parameters
        ----------
        min_count : int, default=1
            Tokens that occur fewer times are left out.

        Returns
        -------
        tokens : ndarray of shape (n_tokens,)
            Tokens that occur at least `min_count` times, sorted.

        counts : csr_array of shape (n_playlists, n_tokens)
            How often each playlist holds each of them.
        """
        tokens, codes, totals = np.unique(self.tokens, return_inverse=True, return_counts=True)
        ones, shape = np.ones(len(codes)), (len(self), len(tokens))
        counts = csr_array((ones, codes, self.starts), shape=shape, copy=True)
        counts.sum_duplicates()  # in place
        often = totals >= min_count
        return tokens[often], counts[:, often]
