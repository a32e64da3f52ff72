"""
=========================
Why was this song chosen?
=========================

A score is the sum of the song's features times their shared, user and playlist weights. It can
therefore be decomposed exactly, also for a new playlist of a known user and for a new song.
"""

# %%
# Fit a ranker, and recommend
# ---------------------------
# The ranker is fitted on the table that comes with the package, without the songs released last. It
# then recommends some of these for a new playlist of a user.

import matplotlib.pyplot as plt

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import load_sample
from skmtc.features import make_song_features, make_user_features
from skmtc.inspection import ExplanationDisplay, explain, top_features
from skmtc.model_selection import ColdSongSplit

X = load_sample().X
((train, test),) = ColdSongSplit(song_size=0.1, random_state=0).split(X)
features = make_song_features(X, new_songs=True, random_state=0)
ranker = MultitaskPlaylistRanker(
    song_features=features, user_features=make_user_features(X), random_state=0
)
ranker.fit(X.iloc[train])

user = X["user"].value_counts().index[0]
new_songs = X.iloc[test].drop_duplicates("song")
best, scores = ranker.recommend(
    X.loc[X["user"] == user].iloc[[0]].drop(columns=["playlist", "song"]),
    candidates=new_songs.drop(columns=["user", "playlist"]),
    n_recommendations=3,
)
print(f"new songs for {user}: {', '.join(best[0])}")

# %%
# Why the first of them?
# ----------------------
# One row for the song in a new playlist. Bars to the right increase the score, bars to the left
# decrease it. The constant feature is the same for all songs; contributions of user weights are
# hatched.

rows = new_songs.set_index("song").loc[best[0]].reset_index()[X.columns]
rows = rows.assign(user=user, playlist="new playlist")
for column in ("age", "gender", "country"):
    rows[column] = X.loc[X["user"] == user, column].iloc[0]

ExplanationDisplay.from_estimator(ranker, rows.iloc[[0]], top=9)
plt.show()

# %%
# The numbers behind the bars
# ---------------------------
# For several rows, ``explain`` returns a table with columns (part, feature). Its rows add up to the
# scores.

contributions = explain(ranker, rows)
parts = contributions.T.groupby("part", sort=False).sum().T
print(parts.assign(score=parts.sum(axis=1), predicted=ranker.predict(rows)).round(3))

# %%
# How does the user differ?
# -------------------------
# The features whose user weights have the largest effect on all songs, with their shared weights.

print(top_features(ranker, user=user, by="user", n=6).round(3))

# %%
# What we learnt
# --------------
# The first two songs suit this user: by the shared weights alone the third would be far ahead of
# them, and the user's own weights of a few features reverse the order. The third song has a high
# score for all users. A new playlist has no weights of its own.

share = parts["user"].abs() / parts.abs().sum(axis=1)
for song, part in zip(best[0], share, strict=True):
    print(f"{song}: the user's part is {part:.0%} of the absolute contributions")
