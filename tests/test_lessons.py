"""The lessons of the paper show on generated data, in all three settings."""

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer

from skmtc import (
    CollocatedArtistRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
)
from skmtc.datasets import make_playlists
from skmtc.features import PopularityEncoder
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

# A playlist of artists without new songs: all new songs are alike to SAGH, which says so.
pytestmark = pytest.mark.filterwarnings("ignore:SameArtistRanker has the same score")

SEEDS = range(3)
# Not x0, which is fame: the methods have to find it out.
COLUMNS = [f"x{j}" for j in range(1, 8)]
BY_ARTIST = {
    "PopRank": PopularityRanker(),
    "SAGH": SameArtistRanker(),
    "CAGH": CollocatedArtistRanker(),
}
BY_CONTENT = {
    "MF+MLP": MatrixFactorizationRanker(n_factors=16, random_state=0),
    "MTC": MultitaskPlaylistRanker(random_state=0),
    "ridge": RidgeRanker(),
    "pairwise": PairwiseRanker(random_state=0),
}


def _rankers(setting):
    """Make all methods; as in the paper, new songs have no popularity to be a feature."""
    parts = [("content", "passthrough", COLUMNS)]
    if setting != "cold songs":
        parts.append(("popularity", PopularityEncoder(), ["song"]))
    content = {
        name: clone(ranker).set_params(song_features=ColumnTransformer(parts))
        for name, ranker in BY_CONTENT.items()
    }
    return BY_ARTIST | content


@pytest.fixture(scope="module")
def auc():
    """Mean AUC by setting and method, over seeds."""
    rows = []
    for seed in SEEDS:
        X = make_playlists(100, 400, 800, 150, n_features=8, fame=1.5, random_state=seed)
        for splitter in (ColdPlaylistSplit, ColdUserSplit, ColdSongSplit):
            options = {"n_songs": 80} if splitter is ColdSongSplit else {}
            cv = splitter(random_state=seed, **options)
            train, test = next(cv.split(X))
            for name, ranker in _rankers(cv.setting).items():
                score = ranker.fit(X.iloc[train]).score(X.iloc[test])
                rows.append((cv.setting, name, score))
    table = pd.DataFrame(rows, columns=["setting", "method", "auc"])
    return table.groupby(["setting", "method"])["auc"].mean().unstack()


def test_popularity_is_strong_everywhere(auc):
    assert (auc["PopRank"] > 0.65).all()
    assert auc.loc["cold users", "PopRank"] > auc.loc["cold users"].max() - 0.05


def test_same_artists_are_weak(auc):
    assert (auc["SAGH"] < auc["PopRank"] - 0.01).all()
    assert auc.loc["cold songs", "SAGH"] < auc.loc["cold songs"].drop("SAGH").min() - 0.05


def test_collocated_artists_are_better_than_same_artists(auc):
    assert (auc["CAGH"] > auc["SAGH"]).all()


def test_content_is_ahead_in_cold_songs(auc):
    cold_songs = auc.loc["cold songs"]
    assert cold_songs[list(BY_CONTENT)].min() > cold_songs[list(BY_ARTIST)].max() + 0.02


def test_the_method_of_the_paper_is_ahead_of_its_baselines(auc):
    others = auc[[*BY_ARTIST, "MF+MLP"]].max(axis=1)
    assert (auc["MTC"] > others - 0.01).all()
    assert (auc["MTC"] > others)[["cold playlists", "cold songs"]].all()


def test_new_users_get_popular_songs_where_few_users_have_many_playlists():
    # 100 users of 50 playlists each, as the hosts of radio shows have.
    ahead = []
    for seed in SEEDS:
        sizes = {"n_features": 8, "mean_length": 5, "fame": 1.5}
        X = make_playlists(100, 5000, 400, 60, **sizes, random_state=seed)
        train, test = next(ColdUserSplit(random_state=seed).split(X))
        rankers = _rankers("cold users")
        auc = {n: rankers[n].fit(X.iloc[train]).score(X.iloc[test]) for n in ("PopRank", "MTC")}
        ahead.append(auc["MTC"] - auc["PopRank"])
    # One user with a hundred playlists in the test set moves the mean by a hundredth.
    assert sum(ahead) / len(ahead) > -0.01
