"""Songs that a playlist, or its user, already has."""

from scipy.sparse import csr_array

from skmtc._utils.sparse import as_ones, one_hot


def seen_songs(ranker, queries, which):
    """Mark the songs of the training catalogue that queries already have.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted ranker.

    queries : Queries
        Who asks.

    which : bool, "playlist" or "user"
        True and "playlist" stand for the songs of known playlists, "user" for those of all
        playlists of known users, False for none.

    Returns
    -------
    seen : csr_array of shape (n_queries, n_songs) or None
        True where a song is seen; None if no query is known.
    """
    check_exclude_seen(which)
    held = as_ones(ranker.membership_)
    codes = queries.playlists
    if which is False or (codes if which != "user" else queries.users).max(initial=-1) < 0:
        return None
    if which == "user":
        codes = queries.users
        held = csr_array(one_hot(ranker.user_of_playlist_, len(ranker.users_)).T) @ held
    return csr_array(one_hot(codes, held.shape[0]) @ held).astype(bool)


def seen_candidates(ranker, queries, songs, which):
    """Mark the candidates that queries already have, as `seen_songs` marks the whole catalogue."""
    seen = seen_songs(ranker, queries, which)
    if seen is None or songs.is_catalogue:
        return seen
    columns = one_hot(songs.codes, len(ranker.songs_)).T
    return csr_array(seen.astype(float) @ columns).astype(bool)


def check_exclude_seen(which):
    """Check which songs are to be left out."""
    if not (isinstance(which, bool) or which in ("playlist", "user")):
        raise ValueError(
            "`exclude_seen` must be True or 'playlist' for the songs of a known playlist, 'user' "
            f"for all songs of its user, or False; got {which!r}. Change `exclude_seen`."
        )
