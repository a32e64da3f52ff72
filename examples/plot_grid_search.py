"""
=============================================
Which penalties does cross-validation choose?
=============================================

The paper's model has four hyperparameters: the penalties on the weights of users, on those of
playlists and on the shared ones, and the exponent of the push. ``GridSearchCV`` of scikit-learn
searches them with a cold-start splitter. What does it choose, and which of the four matter?
"""

# %%
# The search
# ----------
# The parameters in the paper's notation: lambda_1 is ``user_l2``, lambda_2 ``playlist_l1`` (both
# divided by the number of playlists), lambda_3 ``shared_l1`` (times users per playlist), and p is
# ``push``. Each fit is evaluated on new playlists of known users, by two metrics that share the
# scores. For a search, a loose ``tol`` is good enough.

import time

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import GridSearchCV

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.metrics import playlist_scoring
from skmtc.model_selection import ColdPlaylistSplit

X = make_playlists(100, 500, 800, 100, random_state=0)
outer = ColdPlaylistSplit(random_state=1)
((train, test),) = outer.split(X)
features = make_song_features(X, artist=None).set_params(song="drop")  # no vectors
grid = {
    "user_l2": [0.1, 1.0, 10.0],
    "playlist_l1": [0.1, 1.0],
    "shared_l1": [0.001, 0.1],
    "push": [0.5, 2.0],
}
search = GridSearchCV(
    MultitaskPlaylistRanker(song_features=features, tol=1e-2, random_state=0),
    grid,
    cv=ColdPlaylistSplit(random_state=0),
    scoring=playlist_scoring("auc", "hit_rate@20"),
    refit="auc",
)
start = time.perf_counter()
search.fit(X.iloc[train])
results = pd.DataFrame(search.cv_results_)
print(f"{len(results)} settings in {time.perf_counter() - start:.1f} s")
print(f"best: {search.best_params_}")
lambdas = ", ".join(f"{value:.2g}" for value in search.best_estimator_.lambdas_)
print(f"in the paper's scaling, lambda_1 to lambda_3: {lambdas}")

# %%
# Effect of each parameter
# ------------------------
# In each panel one parameter varies. The lines are the best and the worst result over all values of
# the other parameters.

figure, panels = plt.subplots(1, 4, figsize=(12, 3.6), sharey=True, layout="constrained")
spread = {}
for axes, name in zip(panels, grid, strict=True):
    by_value = results.groupby(f"param_{name}")["mean_test_auc"]
    values = by_value.max().index.astype(float)
    axes.fill_between(values, by_value.min(), by_value.max(), color="#56B4E9", alpha=0.3)
    axes.plot(values, by_value.max(), color="#0072B2", marker="o", label="best of the others")
    axes.plot(values, by_value.min(), color="#D55E00", marker="s", ls="--", label="worst")
    axes.set(xscale="log", xlabel=name)
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    spread[name] = by_value.max().max() - by_value.max().min()
panels[0].set_ylabel("AUC, new playlists")
panels[0].legend()
plt.show()

# %%
# Do the metrics agree?
# ---------------------
# Each point is a setting. A search by AUC and one by hit rate may choose different settings.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
looks = {0.5: ("#0072B2", "o"), 2.0: ("#D55E00", "s")}
for push, rows in results.groupby("param_push"):
    colour, marker = looks[push]
    axes.scatter(
        rows["mean_test_auc"],
        rows["mean_test_hit_rate@20"],
        color=colour,
        marker=marker,
        label=f"push {push:g}",
    )
axes.set(xlabel="AUC", ylabel="hit rate at 20")
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
# What we learnt
# --------------
# A bad value of one parameter costs little if the others can compensate for it; bad values of
# several at once cost far more. So search them together, with ranges that are wide enough to
# contain the best value inside. Evaluate the result of a search on playlists that it never saw.
#
# The cost of a bad value of each parameter, and the test result next to that of the defaults:

for name, value in sorted(spread.items(), key=lambda item: -item[1]):
    print(f"{name:12} a bad value costs {value:.4f} AUC, with the others at their best")
lowest, highest = results["mean_test_auc"].min(), results["mean_test_auc"].max()
print(f"the worst setting of all costs {highest - lowest:.4f} AUC")
plain = MultitaskPlaylistRanker(song_features=features, random_state=0).fit(X.iloc[train])
print(f"on playlists that the search never saw: {search.best_estimator_.score(X.iloc[test]):.4f}")
print(f"without a search, with the defaults:    {plain.score(X.iloc[test]):.4f}")
