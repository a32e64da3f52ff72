"""Playlists made in blocks, whose songs are found by search in cumulated popularities.

Songs of a community, and within it those of an artist, are neighbours in one array of cumulated
popularities. So a song of a community, of an artist or of the catalogue is one binary search, and
the work for a playlist does not grow with the catalogue.
"""

from dataclasses import dataclass

import numpy as np

from skmtc.datasets.generate._sampling import sample_lengths

# Popularity falls with the rank r as (r + HEAD) ** -TAIL. With 66 million rows and 3.5 million
# songs, about as many songs as in the Million Playlist Dataset are in a playlist at all (2.3
# million) and in one only (two fifths), and the first is in as large a share of playlists (0.046).
HEAD, TAIL = 450.0, 1.3
LARGEST_COMMUNITY_SHARE = 0.5  # of a Zipf law: sizes fall with the rank to this power
COMMUNITY_ARTISTS = 1500  # mean number of artists of a community

# Where a song of a playlist comes from: its community, a second one, the artist of the song before
# it, or the whole catalogue.
FIRST, SECOND, SAME_ARTIST = 0.45, 0.15, 0.25
LOYALTY = 0.7  # share of a user's playlists that are about the user's own community

LENGTH_SHAPE = 1.3  # of the gamma that spreads lengths: half of the playlists have 49 songs or less
SHORTEST, LONGEST = 5, 376
# Songs drawn for a playlist beyond its length, as those drawn before do not count again.
SPARE_SHARE, SPARE = 0.3, 8


@dataclass(frozen=True)
class PopularSongs:
    """A catalogue in the order of communities, and within these of artists.

    Attributes
    ----------
    ids, artists : ndarray of shape (n_songs,)
        Song ids, which tell nothing about songs, and artist ids.

    durations : ndarray of shape (n_songs,)
        In seconds.

    cumulated : ndarray of shape (n_songs + 1,)
        Sum of the popularities of the songs before each one.

    starts_of_community, starts_of_artist : ndarray
        First song of each, and the number of songs at the end.

    artist_of_song : ndarray of shape (n_songs,)
        Position of the artist in `starts_of_artist`.
    """

    ids: np.ndarray
    artists: np.ndarray
    durations: np.ndarray
    cumulated: np.ndarray
    starts_of_community: np.ndarray
    starts_of_artist: np.ndarray
    artist_of_song: np.ndarray

    @property
    def n_communities(self):
        """The number of communities."""
        return len(self.starts_of_community) - 1

    def sample(self, rng, first, stop):
        """Sample one song from each range of songs, in proportion to popularity."""
        low, high = self.cumulated[first], self.cumulated[stop]
        points = low + rng.random(len(first)) * (high - low)
        songs = np.searchsorted(self.cumulated, points, side="right") - 1
        return np.clip(songs, first, stop - 1)  # rounding may put a point at the very end

    def sample_communities(self, rng, size):
        """Sample communities in proportion to the popularity of their songs."""
        at = self.cumulated[self.starts_of_community]
        points = rng.random(size) * at[-1]
        return np.searchsorted(at, points, side="right").clip(1, self.n_communities) - 1


def make_popular_songs(rng, n_songs, n_artists):
    """Sample a catalogue: popular artists have more songs, and more popular ones."""
    fame = rng.exponential(size=n_artists)
    weight = np.exp(0.8 * fame + 0.5 * rng.normal(size=n_artists))
    more = rng.choice(n_artists, size=max(0, n_songs - n_artists), p=weight / weight.sum())
    artist = np.concatenate([np.arange(n_artists)[:n_songs], more])
    n_communities = max(1, n_artists // COMMUNITY_ARTISTS)
    share = np.arange(1, n_communities + 1) ** -LARGEST_COMMUNITY_SHARE
    community = rng.choice(n_communities, size=n_artists, p=share / share.sum())

    appeal = 0.6 * fame[artist] + rng.exponential(size=n_songs)
    popularity = np.empty(n_songs)
    popularity[np.argsort(-appeal, kind="stable")] = (np.arange(n_songs) + HEAD) ** -TAIL
    order = np.lexsort((artist, community[artist]))
    artists = artist[order]
    starts_of_artist = np.flatnonzero(np.diff(artists, prepend=-1, append=-1))
    ends = np.searchsorted(community[artists], np.arange(n_communities + 1))
    durations = np.clip(rng.lognormal(np.log(225.0), 0.3, size=n_songs), 30.0, 1800.0)
    return PopularSongs(
        ids=rng.permutation(n_songs).astype(np.int32),
        artists=artists.astype(np.int32),
        durations=durations.round(1).astype(np.float32),
        cumulated=np.concatenate([[0.0], np.cumsum(popularity[order])]),
        starts_of_community=ends,
        starts_of_artist=starts_of_artist,
        artist_of_song=np.repeat(np.arange(len(starts_of_artist) - 1), np.diff(starts_of_artist)),
    )


def sample_block(rng, songs, tastes, *, mean_length):
    """Sample the playlists of a block.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.

    songs : PopularSongs
        The catalogue.

    tastes : ndarray of shape (n_playlists,)
        Community that the owner of each playlist likes.

    mean_length : float
        Mean number of songs of a playlist.

    Returns
    -------
    playlists, chosen : ndarray of shape (n_rows,)
        Playlist of each row, counted from the first of the block, and its song as a position in
        the catalogue. A playlist is shorter than it was meant to be if too many of its songs were
        drawn twice.
    """
    lengths = sample_lengths(
        rng,
        len(tastes),
        mean=mean_length,
        shortest=SHORTEST,
        longest=min(LONGEST, len(songs.ids) // 2),
        shape=LENGTH_SHAPE,
    )
    first = np.where(
        rng.random(len(tastes)) < LOYALTY, tastes, songs.sample_communities(rng, len(tastes))
    )
    second = songs.sample_communities(rng, len(tastes))
    # 1. Draw more songs than needed, each from its playlist's communities or from all songs.
    playlists = np.repeat(np.arange(len(tastes)), (lengths * (1 + SPARE_SHARE)).astype(int) + SPARE)
    source = rng.random(len(playlists))
    community = np.where(source < FIRST, first[playlists], second[playlists])
    is_global = source >= FIRST + SECOND + SAME_ARTIST
    start = np.where(is_global, 0, songs.starts_of_community[community])
    stop = np.where(is_global, len(songs.ids), songs.starts_of_community[community + 1])
    empty = start == stop  # a small catalogue may have communities without songs
    start[empty], stop[empty] = 0, len(songs.ids)
    chosen = songs.sample(rng, start, stop)
    # 2. Songs by the artist of the last song that was drawn otherwise.
    follows = (source >= FIRST + SECOND) & ~is_global & (np.diff(playlists, prepend=-1) == 0)
    last = np.maximum.accumulate(np.where(follows, 0, np.arange(len(chosen))))
    artist = songs.artist_of_song[chosen[last[follows]]]
    bounds = songs.starts_of_artist
    chosen[follows] = songs.sample(rng, bounds[artist], bounds[artist + 1])
    # 3. Keep each song of a playlist once, and as many songs as the playlist has.
    kept = np.sort(np.unique(playlists * len(songs.ids) + chosen, return_index=True)[1])
    playlists, chosen = playlists[kept], chosen[kept]
    counts = np.bincount(playlists, minlength=len(tastes))
    place = np.arange(len(playlists)) - np.repeat(np.cumsum(counts) - counts, counts)
    fits = place < lengths[playlists]
    return playlists[fits], chosen[fits]
