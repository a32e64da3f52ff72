"""Generated songs: artists in communities in genres, years, fame and audio-like features."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

GENRES = (
    "rock",
    "pop",
    "electronic",
    "rap",
    "jazz",
    "metal",
    "soul",
    "country",
    "folk",
    "latin",
    "reggae",
    "blues",
    "classical",
)
COMMUNITIES_PER_GENRE = 3
MOST_FAME = 4.0  # of an artist; without a bound one artist has a tenth of all rows
LAST_YEAR, FIRST_YEAR = 2011, 1950

# Shares of the variance of a feature that its genre, community, artist and song account for.
GENRE_SHARE, COMMUNITY_SHARE, ARTIST_SHARE, SONG_SHARE = 0.4, 0.2, 0.2, 0.2


@dataclass(frozen=True)
class Catalogue:
    """The songs of a generated world, and what is true of their artists.

    Attributes
    ----------
    features : ndarray of shape (n_songs, n_features)
        Fame, then era (if there are two features), then audio-like features; standardised.

    centres : ndarray of shape (n_communities, n_features)
        Mean features of the songs of each community; 0 for fame, which has no community.

    songs : DataFrame
        Columns artist, year, genre, x0, x1…, by song id.

    artists : DataFrame
        Columns genre and community, by artist id.
    """

    features: np.ndarray
    centres: np.ndarray
    songs: pd.DataFrame
    artists: pd.DataFrame


def make_catalogue(rng, *, n_songs, n_artists, n_features, n_genres):
    """Sample artists and their songs."""
    genre_of_community = np.repeat(np.arange(n_genres), COMMUNITIES_PER_GENRE)
    community_of_artist = _communities(rng, n_artists, n_genres)
    genre_of_artist = genre_of_community[community_of_artist]
    fame_of_artist = np.minimum(rng.exponential(size=n_artists), MOST_FAME)
    artist_of_song = _songs_of_artists(rng, n_songs, fame_of_artist)

    features = np.empty((n_songs, n_features))
    features[:, 0] = _fame(rng, fame_of_artist[artist_of_song])
    centres = np.zeros((len(genre_of_community), n_features))
    centres[:, 1:] = np.sqrt(GENRE_SHARE) * rng.normal(size=(n_genres, n_features - 1))[
        genre_of_community
    ] + np.sqrt(COMMUNITY_SHARE) * rng.normal(size=(len(centres), n_features - 1))
    own = rng.normal(size=(n_artists, n_features - 1))
    artists = centres[community_of_artist, 1:] + np.sqrt(ARTIST_SHARE) * own
    own = rng.normal(size=(n_songs, n_features - 1))
    raw = artists[artist_of_song] + np.sqrt(SONG_SHARE) * own
    mean, spread = raw.mean(axis=0), raw.std(axis=0)
    spread[spread == 0] = 1.0  # a single song
    features[:, 1:] = (raw - mean) / spread
    centres[:, 1:] = (centres[:, 1:] - mean) / spread

    genre_names = np.array([_genre_name(g) for g in range(n_genres)])
    artist_ids = np.array([f"artist{a}" for a in range(n_artists)])
    songs = pd.DataFrame(features, columns=feature_columns(n_features))
    songs.insert(0, "artist", artist_ids[artist_of_song])
    songs.insert(1, "year", _years(rng, features))
    songs.insert(2, "genre", genre_names[genre_of_artist[artist_of_song]])
    songs.index = pd.Index([f"song{s}" for s in range(n_songs)], name="song")
    described = pd.DataFrame(
        {"genre": genre_names[genre_of_artist], "community": community_of_artist},
        index=pd.Index(artist_ids, name="artist"),
    )
    return Catalogue(features, centres, songs, described)


def feature_columns(n_features):
    """Name the numeric features."""
    return [f"x{j}" for j in range(n_features)]


def _genre_name(genre):
    return GENRES[genre] if genre < len(GENRES) else f"genre{genre}"


def _communities(rng, n_artists, n_genres):
    """Sample the community of each artist; the first genres are the largest, as in real sets."""
    share = 1.0 / np.arange(1, n_genres + 1)
    genre = rng.choice(n_genres, size=n_artists, p=share / share.sum())
    return genre * COMMUNITIES_PER_GENRE + rng.randint(COMMUNITIES_PER_GENRE, size=n_artists)


def _songs_of_artists(rng, n_songs, fame_of_artist):
    """Assign an artist to each song: each artist one song while they last, more to the famous."""
    n_artists = len(fame_of_artist)
    weight = np.exp(0.3 * fame_of_artist + 0.8 * rng.normal(size=n_artists))
    n_more = max(0, n_songs - n_artists)
    more = rng.choice(n_artists, size=n_more, p=weight / weight.sum())
    return rng.permutation(np.concatenate([np.arange(n_artists)[:n_songs], more]))


def _fame(rng, fame_of_artist):
    """Sample the fame of songs, so that exp(fame) has a long tail; mean 0, spread about 1."""
    own = rng.exponential(size=len(fame_of_artist))
    fame = 0.6 * fame_of_artist + 0.8 * own - 1.4
    return np.clip(fame, -1.4, 4.5)


def _years(rng, features):
    """Sample release years that go with the era feature; there are more songs of late years."""
    latent = rng.normal(size=len(features))
    if features.shape[1] > 1:
        latent = 0.8 * features[:, 1] + 0.6 * latent
    quantile = (np.argsort(np.argsort(latent)) + 0.5) / len(latent)
    ago = np.floor(-12.0 * np.log(quantile))
    return LAST_YEAR - np.minimum(ago, LAST_YEAR - FIRST_YEAR).astype(np.int64)
