"""
===================================
Does serving need a vector index?
===================================

Every score is the inner product of a query vector and a song vector. So songs can go into a vector
index, a service of its own that finds good songs without looking at all of them. What is it worth,
next to ``recommend``, in recall and in time per request?
"""

# %%
# A catalogue of forty thousand songs
# -----------------------------------
# Most of them are new: the ranker was fitted on playlists with a part of the catalogue, and makes
# vectors of all songs from their features.

import time

import faiss
import matplotlib.pyplot as plt
import numpy as np

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features

X, truth = make_playlists(
    300, 1_000, 40_000, 2_000, n_features=16, random_state=0, return_truth=True
)
catalogue = truth.songs.reset_index()[X.columns.intersection(truth.songs.reset_index().columns)]
features = make_song_features(X, popularity=False, random_state=0)
ranker = MultitaskPlaylistRanker(song_features=features, random_state=0).fit(X)
song_vectors = ranker.song_vectors(catalogue).astype(np.float32)
queries = X[["user"]].drop_duplicates().head(200)
query_vectors = ranker.query_vectors(queries).astype(np.float32)
print(f"{len(ranker.songs_):,} songs of {len(catalogue):,} are known from playlists")
print(f"vectors have {song_vectors.shape[1]} numbers")

# %%
# Exact, and nearly exact
# -----------------------
# ``recommend`` is exact. So is faiss's flat index. Its HNSW graph is not: the search looks at
# ``efSearch`` songs at a time, the more the better. Graphs are made for distances, and long vectors
# mislead them; so songs get one more number, which makes all vectors of one length, and queries a
# zero in that place. Then the nearest song is the one with the largest score.

faiss.omp_set_num_threads(1)
lengths = np.linalg.norm(song_vectors, axis=1)
missing = np.sqrt(np.maximum(lengths.max() ** 2 - lengths**2, 0.0))
stored = np.column_stack([song_vectors, missing]).astype(np.float32)
asked = np.column_stack([query_vectors, np.zeros(len(queries))]).astype(np.float32)

flat = faiss.IndexFlatIP(stored.shape[1])
flat.add(stored)
graph = faiss.IndexHNSWFlat(stored.shape[1], 32)
graph.hnsw.efConstruction = 60
start = time.perf_counter()
graph.add(stored)
print(f"graph made in {time.perf_counter() - start:.1f} s")


def ask_one_by_one(search, requests):
    """Give what is found for each request, and the median milliseconds of a request."""
    found, seconds = [], []
    for number in range(len(requests)):
        start = time.perf_counter()
        found.append(search(requests[number : number + 1]))
        seconds.append(time.perf_counter() - start)
    return np.concatenate(found), 1e3 * np.median(seconds)


def from_index(index):
    """Give a function that finds the positions of the ten best songs."""
    return lambda vectors: index.search(vectors, 10)[1]


def from_ranker(users):
    """Find the ids of the ten best songs."""
    return ranker.recommend(users, candidates=catalogue, n_recommendations=10)[0]


best, _ = ranker.recommend(queries, candidates=catalogue, n_recommendations=10)
ids = catalogue["song"].to_numpy()


def recall(songs):
    """Give the share of the ten best songs that were found."""
    return np.mean([len(set(a) & set(b)) / 10 for a, b in zip(songs, best, strict=True)])


answers = {}
found, milliseconds = ask_one_by_one(from_index(flat), asked)
answers["flat index, exact"] = recall(ids[found]), milliseconds
for effort in (10, 20, 40, 80, 160, 320):
    graph.hnsw.efSearch = effort
    found, milliseconds = ask_one_by_one(from_index(graph), asked)
    answers[f"graph, efSearch {effort}"] = recall(ids[found]), milliseconds
print(answers)
