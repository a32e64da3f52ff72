"""
========================================================
What does the classification loss cost, and what save?
========================================================

To rank songs, the paper minimises a classification loss: a sum over songs in place of a sum over
pairs of songs. The ranking loss that it stands in for is the p-norm push, in which songs outside a
playlist count the more, the higher they rank. The paper argues that a minimiser of the first
minimises the second, without penalties. With penalties, what is lost in ranking, and is any time
gained? Here both are minimised by the same solver, ``loss="classification"`` and
``loss="ranking"``.
"""

# %%
# Both losses along the penalty
# -----------------------------
# The same penalty does not mean the same for losses of different scale, so that each loss is
# followed over a range of penalties and judged at its best. Each fit is judged on new playlists of
# known users by AUC, by hit rate and by the push loss itself, at which the ranking loss should win.

import time

import matplotlib.pyplot as plt
import pandas as pd

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.datasets import load_sample, make_playlists
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit

MultitaskPlaylistRanker().fit(make_playlists(preset="tiny", random_state=0))  # compiles

X = load_sample().X
((train, test),) = ColdPlaylistSplit(user_size=0.4, random_state=0).split(X)
X_train, X_test = X.iloc[train], X.iloc[test]
features = make_song_features(X, embedding=False)
penalties = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
metrics = ["auc", "hit_rate@20", "neg_bottom_push_loss"]

rows = []
for push in (1.0, 4.0):
    for loss in ("classification", "ranking"):
        for user_l2 in penalties:
            ranker = MultitaskPlaylistRanker(
                song_features=features, loss=loss, push=push, user_l2=user_l2, random_state=0
            )
            start = time.perf_counter()
            ranker.fit(X_train)
            seconds = time.perf_counter() - start
            means = evaluate(ranker, X_test, metrics)[metrics].mean()
            told = {"push": push, "loss": loss, "user_l2": user_l2}
            rows.append(told | dict(means) | {"seconds": seconds})
results = pd.DataFrame(rows)

# %%
# AUC and push loss
# -----------------
# Left: the AUC of new playlists; right: their push loss, which is better the lower it is.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
looks = {"classification": ("#0072B2", "o"), "ranking": ("#D55E00", "s")}
for (push, loss), part in results.groupby(["push", "loss"]):
    colour, marker = looks[loss]
    style = {"color": colour, "marker": marker, "ls": "-" if push == 1 else ":"}
    label = f"{loss}, push {push:g}"
    left.plot(part["user_l2"], part["auc"], label=label, **style)
    right.plot(part["user_l2"], -part["neg_bottom_push_loss"], label=label, **style)
left.set(ylabel="AUC, new playlists")
right.set(ylabel="push loss, new playlists", yscale="log")
for axes in (left, right):
    axes.set(xscale="log", xlabel="user_l2")
    axes.grid(alpha=0.3)
left.legend()
plt.show()

# %%
# What we learnt
# --------------

best = results.loc[results.groupby(["push", "loss"])["auc"].idxmax()]
times = results.groupby(["push", "loss"])["seconds"].sum()
print(best.drop(columns="seconds").round(4).to_string(index=False))
print("\nseconds for all penalties")
print(times.round(2).to_string())
