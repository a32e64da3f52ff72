"""
=========================
Why was this song chosen?
=========================

A score is a sum: each feature of the song times its weights, and these are shared by all, the
user's own or the playlist's own. So there is an exact answer to the question why a song ranks
where it does, for a new playlist of a known user and for a newly released song as well.
"""

# %%
# Fit a ranker, and recommend
# ---------------------------
# The table that comes with the package, without the songs released last. A user wants a new
# playlist: these are the best of the songs that the ranker has never seen.

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
# One row for the song in a playlist that does not exist yet. Bars to the right speak for the song,
# bars to the left against it. The constant feature is the same for all songs; what is the user's
# own is hatched.

rows = new_songs.set_index("song").loc[best[0]].reset_index()[X.columns]
rows = rows.assign(user=user, playlist="new playlist")
for column in ("age", "gender", "country"):
    rows[column] = X.loc[X["user"] == user, column].iloc[0]

ExplanationDisplay.from_estimator(ranker, rows.iloc[[0]], top=9)
plt.show()

# %%
# The numbers behind the bars
# ---------------------------
# For several rows at a time ``explain`` gives a table with columns (part, feature). Its rows add up
# to the scores.

contributions = explain(ranker, rows)
parts = contributions.T.groupby("part", sort=False).sum().T
print(parts.assign(score=parts.sum(axis=1), predicted=ranker.predict(rows)).round(3))

# %%
# In what does the user differ?
# -----------------------------
# Whatever the song: the features whose weights move this user's songs furthest apart, compared
# with everybody's.

print(top_features(ranker, user=user, by="user", n=6).round(3))

# %%
# What we learnt
# --------------
# The first two songs are this user's: by the shared weights alone the third would be far ahead of
# them, and the user's own weights of a few features turn the order around. The third song speaks to
# everybody as much as to this user. A new playlist adds nothing of its own. As contributions add
# up to the score, nothing is left to guess.

share = parts["user"].abs() / parts.abs().sum(axis=1)
for song, part in zip(best[0], share, strict=True):
    print(f"{song}: the user's part is {part:.0%} of the absolute contributions")
