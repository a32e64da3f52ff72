"""
===============================================
How do I get from playlists to recommendations?
===============================================

The steps are: look at the table, make features, fit, recommend. Are the recommendations better than
the most popular songs? And what if the columns of a table have other names?
"""

# %%
# The table
# ---------
# One row for each song in a playlist. Three columns are ids; the others describe the song or the
# user of the row. Here it is the generated table that comes with the package; for your own file,
# see below.

import matplotlib.pyplot as plt
import pandas as pd

from skmtc import MultitaskPlaylistRanker, PopularityRanker, evaluate
from skmtc.datasets import load_sample
from skmtc.features import guess_song_roles, make_song_features
from skmtc.inspection import HitRateDisplay
from skmtc.model_selection import ColdPlaylistSplit

X = load_sample().X
print(X[["user", "playlist", "song", "artist", "year", "genre", "x0", "age", "country"]].head())

# %%
# Features, and a fit
# -------------------
# ``make_song_features`` guesses the roles of columns and makes blocks of features from them. Some
# playlists of some users are held out for the last step; ``describe`` counts them.

splitter = ColdPlaylistSplit(random_state=0)
((train, test),) = splitter.split(X)
print(splitter.describe(X).filter(regex="playlists|users|songs").T)

features = make_song_features(X, random_state=0)
ranker = MultitaskPlaylistRanker(song_features=features, random_state=0).fit(X.iloc[train])
print(f"\n{len(ranker.feature_names_out_)} features, {ranker.n_iter_} iterations of the solver")

# %%
# Recommend
# ---------
# A query is a row with what is known: here, two known users, for a new playlist, and a new user.
# With a column of playlists, known playlists would be extended. ``max_per_artist=1`` returns at
# most one song of each artist.

queries = pd.DataFrame({"user": ["user0", "user1", "somebody new"]})
songs, scores = ranker.recommend(queries, n_recommendations=5, max_per_artist=1)
print(pd.DataFrame(songs, index=queries["user"]))

# %%
# Is it any good?
# ---------------
# The held-out playlists are new to the ranker. How many of their songs does it find, and how many
# are among the most popular? The hit rate at K is the share of a playlist's songs that are among
# the K best of the catalogue, which is recall at K.

rankers = {"popularity": PopularityRanker().fit(X.iloc[train]), "multitask": ranker}
HitRateDisplay.from_estimators(rankers, X.iloc[test])
plt.show()

# %%
# Your own table
# --------------
# If the columns have other names, rename the ids. The roles of the others are guessed: songs and
# artists by their names, other columns by their cells. Columns that are not used are listed with
# the reason. Any role can be set by hand. Values may be missing, but not ids.

own = X.rename(columns={"user": "owner", "song": "track", "artist": "band", "genre": "style"})
own = own[["owner", "playlist", "track", "band", "style", "year", "x4"]]  # as by pd.read_csv
own = own.rename(columns={"owner": "user", "track": "song", "band": "artist"})
roles = guess_song_roles(own)
print(roles)

own_ranker = MultitaskPlaylistRanker(
    song_features=make_song_features(own, tags=["style"], random_state=0), random_state=0
)
print(own_ranker.fit(own).recommend(pd.DataFrame({"playlist": ["playlist0"]}))[0])

# %%
# What we learnt
# --------------
# A few lines lead from a table to recommendations, and the multitask ranker finds more of the songs
# of new playlists than popularity does, in short lists and in long ones. The intervals are from a
# bootstrap over users.

summary = pd.concat(
    {name: evaluate(r, X.iloc[test], by="summary", random_state=0) for name, r in rankers.items()},
    names=["ranker", None],
).reset_index(level=0)
print(summary[["ranker", "metric", "mean", "low", "high"]].round(3).to_string(index=False))
