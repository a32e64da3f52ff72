"""
===================================================
How do I make recommendations readable and diverse?
===================================================

This example shows recommendations with titles and artists, similar songs, candidates per user (such
as licences), and diverse lists.
"""

# %%
# A table with titles
# -------------------
# Generated playlists with readable names: every artist has a name, and every song a title that
# suits its genre. Neither is a feature.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skmtc import RidgeRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.metrics import intra_list_distance_score
from skmtc.model_selection import ColdPlaylistSplit

OF_GENRE = {
    "rock": (["Broken", "Iron", "Wild", "Last"], ["Highway", "Thunder", "Engine", "Riot"]),
    "pop": (["Golden", "Sweet", "Neon", "Endless"], ["Summer", "Heart", "Weekend", "Mirror"]),
    "jazz": (["Blue", "Late", "Velvet", "Round"], ["Avenue", "Rain", "Waltz", "Corner"]),
    "electronic": (["Digital", "Hollow", "Slow"], ["Signal", "Orbit", "Static", "Tide"]),
    "rap": (["Cold", "Concrete", "Loud", "Heavy"], ["Block", "Gold", "Nights", "Verse"]),
}
FIRST = ["Ada", "Bruno", "Clara", "Dario", "Edith", "Farid", "Greta", "Hugo", "Irene", "Jonas"]
LAST = ["Moreau", "Okafor", "Lindqvist", "Tanaka", "Reyes", "Novak", "Haddad", "Byrne"]

X = make_playlists(n_users=200, n_playlists=1000, n_songs=400, random_state=0)
rng = np.random.default_rng(0)
songs = X.drop_duplicates("song")[["song", "genre", "artist"]]


def title(genre):
    """Make a title for a genre."""
    one, two = OF_GENRE[genre]
    return f"{rng.choice(one)} {rng.choice(two)}, No. {rng.integers(1, 100)}"


names = [f"{one} {two}" for one in FIRST for two in LAST]
artists = {a: names[i % len(names)] for i, a in enumerate(sorted(songs["artist"].unique()))}
X["title"] = X["song"].map({row.song: title(row.genre) for row in songs.itertuples()})
X["performer"] = X["artist"].map(artists)

# %%
# Songs for a new playlist
# ------------------------
# ``as_frame=True`` returns a tidy table: ids, rank, score, and the columns of the training table
# that describe songs.

train, test = next(ColdPlaylistSplit(min_song_count=2, random_state=0).split(X))
described = X.drop(columns=["title", "performer"])
features = make_song_features(described, new_songs=True, random_state=0)
ranker = RidgeRanker(song_features=features).fit(X.iloc[train])

user = X.iloc[test]["user"].iloc[0]
shown = ["rank", "title", "performer", "genre", "score"]
ask = pd.DataFrame({"user": [user]})
print(
    ranker.recommend(ask, n_recommendations=5, as_frame=True)[shown].round(2).to_string(index=False)
)

# %%
# Songs similar to the first
# --------------------------

first = ranker.recommend(ask, n_recommendations=1)[0][0]
similar = ranker.similar_songs(first, n=4, as_frame=True)
print(similar[shown].round(2).to_string(index=False))

# %%
# Only what is licensed
# ---------------------
# A table says which songs each user may get: here, songs released before 2000.

licensed = X.loc[X["year"] < 2000, ["song"]].drop_duplicates().assign(user=user)
within = ranker.recommend(ask, candidates=licensed, n_recommendations=3, as_frame=True)
print(within[["rank", "title", "performer", "year"]].to_string(index=False))

# %%
# Diversity and hits
# ------------------
# The higher the diversity, the less similar are the songs of a list. How does it change the number
# of songs of held-out playlists that are found?

held = X.iloc[test].groupby(["user", "playlist"])["song"].agg(set).reset_index()
levels = np.linspace(0, 1, 11)
distances, hits = [], []
for diversity in levels:
    lists, _ = ranker.recommend(held[["user"]], diversity=diversity)
    of_lists = [
        intra_list_distance_score(None, np.ones((1, 10)), vectors=ranker.song_vectors(row)[:, :-1])
        for row in lists
    ]
    distances.append(np.mean(of_lists))
    hits.append(
        np.mean([len(own & set(row)) for own, row in zip(held["song"], lists, strict=True)])
    )

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(distances, hits, "o-", color="#0072B2")
for diversity, x, y in zip(levels, distances, hits, strict=True):
    if round(10 * diversity) % 2 == 0:
        axes.annotate(f"{diversity:.1f}", (x, y), xytext=(5, 5), textcoords="offset points")
axes.set_xlabel("intra-list distance of ten songs")
axes.set_ylabel("hits among ten songs, per playlist")
axes.set_title("Hits by diversity")
axes.set_ylim(0, 1.15 * max(hits))
axes.margins(x=0.08)
axes.grid(alpha=0.3)
plt.show()

# %%
# What we learnt
# --------------
# Diversity does not always cost hits: here, lists without it have several songs of one artist,
# while playlists mix artists, so a moderate diversity finds more songs. Larger values cost many
# hits. Plot this curve for your own table before you choose.

varied = ranker.recommend(ask, n_recommendations=5, diversity=0.5, as_frame=True)
print(varied[shown].round(2).to_string(index=False))
for level in (0, 3, 10):
    print(f"diversity {levels[level]:.1f}: distance {distances[level]:.2f}, hits {hits[level]:.2f}")
