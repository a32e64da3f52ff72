"""
=========================================
What is known in each cold-start setting?
=========================================

Playlists, users or songs may be new. What does a ranker know in each of these settings, and how
much do features help?
"""

# %%
# Who is cold
# -----------
# The three settings of the paper, as the splitters make them from the table that comes with the
# package. Rows are songs and columns are playlists; a part of the table is shown. In the cold users
# setting, all playlists of some users are held out; in the cold songs setting, all playlists are
# known, and some songs are held out.

import matplotlib.pyplot as plt

from skmtc import CollocatedArtistRanker, MultitaskPlaylistRanker, OwnSongsRanker, PopularityRanker
from skmtc.datasets import load_sample
from skmtc.features import make_song_features, make_user_features
from skmtc.inspection import ColdStartDisplay, HitRateDisplay, NoveltyDisplay
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

X = load_sample().X
splitters = [
    ColdPlaylistSplit(random_state=0),
    ColdUserSplit(random_state=0),
    ColdSongSplit(song_size=0.1, random_state=0),
]
ColdStartDisplay.from_splitters(splitters, X)
plt.show()

# %%
# Hit rate and novelty
# --------------------
# The share of the held-out songs that are among the K best, and how unpopular these are, for the
# same four rankers in each setting. Popularity is not a feature of new songs.


def make_rankers(setting):
    features = make_song_features(X, new_songs=setting == "cold songs", random_state=0)
    return {
        "popularity": PopularityRanker(),
        "own songs": OwnSongsRanker(),
        "collocated artists": CollocatedArtistRanker(),
        "multitask": MultitaskPlaylistRanker(
            song_features=features, user_features=make_user_features(X), random_state=0
        ),
    }


figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
at_20 = {}
for splitter, (top, bottom) in zip(splitters, axes.T, strict=True):
    train, test = next(splitter.split(X))
    rankers = {n: r.fit(X.iloc[train]) for n, r in make_rankers(splitter.setting).items()}
    lengths = [1, 2, 5, 10, 20, 50, 100]
    shown = HitRateDisplay.from_estimators(rankers, X.iloc[test], k=lengths, ax=top)
    NoveltyDisplay.from_estimators(rankers, X.iloc[test], k=lengths, ax=bottom)
    top.set_title(splitter.setting)
    at_20[splitter.setting] = dict(zip(rankers, shown.values[:, 4].round(2).tolist(), strict=True))
plt.show()

# %%
# What we learnt
# --------------
# For new playlists of known users, it helps to put the user's own songs first, and more to learn
# the user's weights of features. Of new users only attributes are known, and no ranker is far ahead
# of popularity. New songs have no popularity: only their features are known, and the multitask
# ranker finds far more of them than the others. Novelty of new songs is the same for all rankers,
# since none of the songs is in a training playlist.

for setting, values in at_20.items():
    print(f"{setting}, hit rate at 20: {values}")
