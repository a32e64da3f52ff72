"""Types of the public API, as a downstream project sees them."""

import importlib
import inspect
import os
import subprocess
import sys

import pytest
from test_public_api import MODULES, ROOT

# A file as strict as mypy can be. Lines that must be wrong say so: an error that is not there is
# reported, too.
DOWNSTREAM = """
from typing import Any, assert_type

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import skmtc
from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PopularityRanker,
    RidgeRanker,
    StackingRanker,
    compare,
    evaluate,
    make_ranker,
    regularization_path,
)
from skmtc.datasets import load_sample, make_playlists, read_table
from skmtc.features import ArtistEmbedding, SongRoles, guess_song_roles, make_song_features
from skmtc.inspection import HitRateDisplay, explain, top_features
from skmtc.metrics import auc_score, make_playlist_scorer
from skmtc.model_selection import ColdSongSplit, ColdUserSplit
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.persistence import load, save, trusted_types


def main(path: str) -> float:
    X: pd.DataFrame = read_table(path, user=None)
    ranker = MultitaskPlaylistRanker(
        song_features=make_song_features(X, random_state=0), history=("song",), n_jobs=2
    )
    assert_type(ranker.fit(X), MultitaskPlaylistRanker)
    assert_type(ranker.partial_fit(X).forget([1, 2]), MultitaskPlaylistRanker)
    assert_type(ranker.predict(np.ones((2, 3))), NDArray[np.float64])
    frame = ranker.recommend(X, n_recommendations=5, diversity=0.3, as_frame=True)
    assert_type(frame, pd.DataFrame)
    assert_type(ranker.similar_songs(["s1"], as_frame=True), pd.DataFrame)
    songs, scores = ranker.recommend(X, n_recommendations=5, exclude_seen="user")
    assert_type(songs, NDArray[Any])
    assert_type(scores, NDArray[np.float64])
    assert_type(regularization_path(ranker, X, [{"user_l2": 0.1}]), list[MultitaskPlaylistRanker])
    stacked = StackingRanker([("a", PopularityRanker(artist=None)), ("b", RidgeRanker())])
    assert_type(stacked.fit(X).score(X), float)
    for train, test in ColdUserSplit(random_state=np.random.RandomState(0)).split(X):
        assert_type(train, NDArray[np.intp])
    assert_type(ColdSongSplit(released=None).get_n_splits(), int)
    roles = guess_song_roles(X)
    assert_type(roles, SongRoles)
    assert_type(roles.artist, str | int | None)
    assert_type(roles.left_out, dict[Any, str])
    PopularityRanker(artist=roles.artist)
    make_song_features(SongRoles(numeric=["year"], artist="artist"))
    assert_type(trusted_types(), list[str])
    compare({"ridge": RidgeRanker()}, X, ColdUserSplit(), metrics="auc")
    evaluate(make_ranker(X).fit(X), X, ("auc", "hit_rate@10"))
    HitRateDisplay.from_estimator(ranker, X).plot(name=["ours"])
    explain(ranker, X, top=3)
    top_features(ranker, user="ana")
    ArtistEmbedding(method="svd", random_state=0).fit(X)
    MatrixFactorizationRanker(n_factors=8).song_vectors()
    make_playlist_scorer("hit_rate", k=10)
    auc_score(np.ones((1, 2)), np.ones((1, 2)))
    save(ranker, path)
    load(path).predict(load_sample().X)
    make_playlists(n_users=3, random_state=0)
    skmtc.datasets.load_sample()
    assert_type(MultitaskObjective, type[MultitaskObjective])
    print(solve_prox_newton)

    PopularityRanker(artist=1.5)  # type: ignore[arg-type]
    PopularityRanker(artists="artist")  # type: ignore[call-arg]
    ranker.recommend(X, n_recommendations="5")  # type: ignore[call-overload]
    ColdUserSplit(user_size="0.3")  # type: ignore[arg-type]
    HitRateDisplay.from_estimator(ranker, X, name=["ours"])  # type: ignore[arg-type]
    MultitaskPlaylistRanker(user_l2=None)  # type: ignore[arg-type]
    return ranker.score(X)
"""


def test_a_downstream_file_type_checks(tmp_path):
    (tmp_path / "downstream.py").write_text(DOWNSTREAM, encoding="utf-8")
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "downstream.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _functions(value):
    """Yield the functions of a public name that this package defines."""
    if inspect.isfunction(value):
        yield value
    elif inspect.isclass(value):
        for owner in value.__mro__:
            for name, member in vars(owner).items():
                for wrapped in ("fget", "__func__", "fn"):  # property, classmethod, available_if
                    member = getattr(member, wrapped, member)
                is_ours = owner.__module__.startswith("skmtc") and inspect.isfunction(member)
                is_private = ":meta private:" in (inspect.getdoc(getattr(value, name)) or "")
                if is_ours and not is_private and (name == "__init__" or not name.startswith("_")):
                    yield member


@pytest.mark.parametrize("module", MODULES)
def test_public_signatures_are_annotated(module):
    module = importlib.import_module(module)
    for name in module.__all__:
        for function in _functions(getattr(module, name)):
            signature = inspect.signature(function)
            parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
            bare = [p.name for p in parameters if p.annotation is p.empty]
            if signature.return_annotation is signature.empty:
                bare.append("return")
            assert not bare, f"{function.__module__}.{function.__qualname__}: {bare}"
