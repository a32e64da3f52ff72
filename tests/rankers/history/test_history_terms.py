"""A ranker that knows what users already have."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from skmtc import HistoryTerms, MultitaskPlaylistRanker, evaluate, regularization_path
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistSplit
from skmtc.optimize._pair_weights import minimise_pairs
from skmtc.rankers.history import TERMS
from skmtc.rankers.history._hold_out import hold_outs
from skmtc.rankers.history._pair_features import PairFeatures
from skmtc.rankers.history._pairs import (
    concatenate_pairs,
    mixed_shares,
    sample_pairs,
    softmax_weights,
)
from skmtc.rankers.recommend import read_candidates

COEF = ("shared_coef_", "user_coef_", "playlist_coef_")


def playlists(**parameters):
    options = {"n_users": 15, "n_playlists": 90, "n_songs": 80, "n_artists": 15, "repeat": 0.4}
    return make_playlists(**options | parameters, random_state=0).drop(columns="year")


@pytest.fixture(scope="module")
def X():
    return playlists()


@pytest.fixture(scope="module")
def paper(X):
    return MultitaskPlaylistRanker(random_state=0).fit(X)


@pytest.fixture(scope="module")
def ranker(X):
    return MultitaskPlaylistRanker(history=TERMS, random_state=0).fit(X)


def queries_of(X):
    """Ask for known playlists, for new ones of known users, and for a new user."""
    known = X[["user", "playlist"]].drop_duplicates()
    new = pd.DataFrame({"user": X["user"].unique(), "playlist": "new"})
    return pd.concat([known, new, pd.DataFrame({"user": ["?"], "playlist": ["?"]})])


def all_pairs(queries, X):
    songs = X.drop_duplicates("song").drop(columns=["user", "playlist"])
    return queries.merge(songs, how="cross")[X.columns]


def test_without_history_the_model_is_the_papers_to_the_bit(X, paper, ranker):
    for name in COEF:
        np.testing.assert_array_equal(getattr(paper, name), getattr(ranker, name))
    assert paper.history_ is None
    pairs = all_pairs(queries_of(X).iloc[::9], X)
    inner = paper.vectors_of_queries(paper.reader.distinct_queries(pairs)[0])
    vectors = paper.query_vectors(pairs[["user", "playlist"]].drop_duplicates())
    assert set(map(tuple, inner)) == set(map(tuple, vectors))


def test_scores_are_those_of_the_paper_and_the_terms(X, paper, ranker):
    queries = queries_of(X)
    pairs = all_pairs(queries, X)
    added = (ranker.predict(pairs) - paper.predict(pairs)).reshape(len(queries), -1)
    songs = ranker.reader.codes("song", X.drop_duplicates("song")["song"])
    asked = ranker.reader.queries(queries)
    terms = PairFeatures(
        TERMS,
        ranker.membership_,
        ranker.user_of_playlist_,
        len(ranker.users_),
        artist_of_song=ranker.history_.artist_of_song_,
    )
    coef = ranker.history_.gain * ranker.history_.coef_[0, (asked.playlists < 0).astype(int)]
    features = terms.features(asked.users, asked.playlists)
    expected = sum(
        part.toarray() * weight[:, None] for part, weight in zip(features, coef.T, strict=True)
    )
    assert abs(expected).max() > 0.5
    np.testing.assert_allclose(added, expected[:, songs], atol=1e-6)
    assert (added[-1] == 0).all()  # nothing is known of a new user


def test_all_ways_to_a_score_agree(X, ranker):
    queries = queries_of(X)
    predicted = ranker.predict(all_pairs(queries, X)).reshape(len(queries), -1)
    ids = X["song"].drop_duplicates().to_numpy()
    products = (ranker.query_vectors(queries) @ ranker.song_vectors(ids).T).toarray()
    np.testing.assert_allclose(products, predicted, atol=1e-9)
    songs, scores = ranker.recommend(queries, n_recommendations=4, exclude_seen=False)
    np.testing.assert_allclose(scores, -np.sort(-predicted, axis=1)[:, :4], atol=1e-9)
    np.testing.assert_array_equal(songs, ids[np.argsort(-predicted, axis=1)[:, :4]])
    _, some_scores = ranker.recommend(
        queries, n_recommendations=2, candidates=ids[:9], exclude_seen=False
    )
    np.testing.assert_allclose(some_scores, -np.sort(-predicted[:, :9], axis=1)[:, :2], atol=1e-9)


def test_terms_add_up_to_what_is_added(X, ranker):
    queries = ranker.reader.queries(queries_of(X))
    for songs in (ranker.reader.catalogue(), read_candidates(ranker, ranker.songs_[3:9])[0]):
        by_term = ranker.history_.scores_by_term(queries, songs)
        assert tuple(by_term) == TERMS
        whole = sum(ranker.added_scores(queries, songs)).toarray()
        np.testing.assert_allclose(sum(by_term.values()).toarray(), whole, atol=1e-6)


def test_new_songs_have_the_history_of_their_artist(X, paper, ranker):
    song = X[X["song"] == X["song"].iloc[0]].iloc[[0]]
    users = X["user"].unique()
    rows = pd.concat([song.assign(user=u, playlist="new", song="unheard") for u in users])
    added = ranker.predict(rows) - paper.predict(rows)
    times = X[X["artist"] == song["artist"].iloc[0]].groupby("user").size().reindex(users)
    weight = ranker.history_.gain * ranker.history_.coef_[1, 1, TERMS.index("artist")]
    assert weight != 0
    np.testing.assert_allclose(added, weight * np.log1p(times.fillna(0)), atol=1e-9)
    queries = pd.DataFrame({"user": users})
    new = rows.iloc[[0]].drop(columns=["user", "playlist"])
    _, scores = ranker.recommend(queries, n_recommendations=1, candidates=new)
    np.testing.assert_allclose(scores[:, 0], ranker.predict(rows), atol=1e-9)
    nobody = rows.assign(artist="unknown artist")
    np.testing.assert_allclose(ranker.predict(nobody), paper.predict(rows), atol=1e-9)


def test_evaluate_knows_the_terms(X, ranker):
    test = X.iloc[::7].assign(playlist="new " + X["playlist"])
    table = evaluate(ranker, test, "hit_rate@10")
    queries = test[["user", "playlist"]].drop_duplicates().reset_index(drop=True)
    songs, _ = ranker.recommend(queries, n_recommendations=10)
    held = test.groupby("playlist")["song"].agg(set)
    rates = pd.Series(
        [
            len(held[p] & set(given)) / len(held[p])
            for p, given in zip(queries["playlist"], songs, strict=True)
        ],
        index=queries["playlist"],
    )
    np.testing.assert_allclose(table["hit_rate@10"], rates[table["playlist"]])


def test_history_helps_where_songs_are_repeated():
    X = playlists(n_users=40, n_playlists=200, n_songs=500)
    train, test = next(ColdPlaylistSplit(min_song_count=1, random_state=0).split(X))
    ranker = MultitaskPlaylistRanker(history=TERMS, random_state=0).fit(X.iloc[train])
    aucs = []
    for gain in (0.0, 1.0):
        ranker.history_.set_params(gain=gain)
        aucs.append(ranker.score(X.iloc[test]))
    assert aucs[1] > aucs[0] + 0.01


def _with_true_scores(X, truth, ranker):
    """Fit the weight of the term "song" beside the scores that playlists were drawn with."""
    features = truth.songs.loc[ranker.songs_].filter(regex="^x").to_numpy()
    weights = truth.shared + truth.user.loc[ranker.users_].to_numpy()
    rng, parts = np.random.RandomState(0), []
    for fold in hold_outs(ranker.membership_, ranker.user_of_playlist_, 2000, rng):
        owners = ranker.user_of_playlist_[fold.new]
        terms = PairFeatures(("song",), fold.kept, ranker.user_of_playlist_, len(ranker.users_))

        def score(rows, owners=owners, terms=terms):
            (song,) = terms.features(owners[rows], np.full(len(rows), -1))
            return [weights[owners[rows]] @ features.T, song.toarray()]

        parts.append(
            sample_pairs(
                score,
                2,
                held=fold.held[fold.new],
                seen=None,
                sample_size=lambda columns: mixed_shares(
                    [softmax_weights(columns[0]), columns[1]], 500
                ),
                rng=rng,
            )
        )
    return minimise_pairs(concatenate_pairs(parts), ranker.history_.l1)[1]


@pytest.mark.parametrize("repeat", [0.0, 0.15, 0.4])
def test_the_true_weight_is_recovered(repeat):
    sizes = {"n_users": 300, "n_playlists": 1000, "n_songs": 1500, "n_artists": 200}
    X, truth = make_playlists(
        **sizes, n_features=8, repeat=repeat, return_truth=True, random_state=0
    )
    ranker = MultitaskPlaylistRanker(
        history=HistoryTerms(("song",), l1=0.1),
        shared_l1=0.1,
        user_l2=0.1,
        playlist_l1=100.0,
        random_state=0,
    ).fit(X.drop(columns="year"))
    weight = ranker.history_.coef_[0, 1, 0] * ranker.history_.scale_[0, 1]
    true = _with_true_scores(X, truth, ranker)
    assert weight == pytest.approx(true, abs=0.1)
    assert (weight == 0.0) == (repeat == 0.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_seed_gives_the_same_bits(X, ranker, n_jobs):
    again = clone(ranker).set_params(n_jobs=n_jobs).fit(X)
    np.testing.assert_array_equal(again.history_.coef_, ranker.history_.coef_)


def test_a_pickle_scores_alike(X, ranker):
    pairs = all_pairs(queries_of(X).iloc[::9], X)
    copied = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copied.predict(pairs), ranker.predict(pairs))


def test_partial_fit_adds_to_the_history(X):
    late = X["playlist"].isin(X["playlist"].unique()[-12:])
    whole = MultitaskPlaylistRanker(history=TERMS, random_state=0).fit(X[~late])
    before = whole.history_.coef_.copy()
    newcomer = X[late].iloc[:1].assign(song="a new song", artist="a new artist")
    whole.partial_fit(pd.concat([X[late], newcomer]))
    np.testing.assert_array_equal(whole.history_.coef_, before)
    history = whole.history_
    terms = PairFeatures(
        TERMS,
        whole.membership_,
        whole.user_of_playlist_,
        len(whole.users_),
        artist_of_song=history.artist_of_song_,
        neighbors=history.neighbors_,
        repeat_rate=history.repeat_rate_,
        propensity=history.propensity_,
    )
    asked = whole.reader.queries(queries_of(X))
    added = sum(whole.added_scores(asked, whole.reader.catalogue())).toarray()
    for is_known in (False, True):
        rows = (asked.playlists >= 0) == is_known
        coef = history.gain * before[0, int(not is_known)]
        expected = terms.scores(asked.users[rows], asked.playlists[rows], coef)
        np.testing.assert_allclose(added[rows], sum(expected).toarray(), atol=1e-6)
    assert history.artists_[history.artist_of_song_[whole.songs_ == "a new song"]] == "a new artist"
    # Neighbours and propensities of known songs are those of before, in their new places.
    places = whole.reader.codes("song", np.unique(X[~late]["song"]))
    old = MultitaskPlaylistRanker(history=TERMS, random_state=0).fit(X[~late])
    for now, then in zip(history.neighbors_, old.history_.neighbors_, strict=True):
        np.testing.assert_allclose(now.toarray()[np.ix_(places, places)], then.toarray())
    np.testing.assert_array_equal(history.propensity_[places], old.history_.propensity_)
    assert history.propensity_[whole.songs_ == "a new song"] == 1.0


def test_forgetting_users_leaves_the_history_of_others(X, ranker):
    gone = X["user"].iloc[0]
    others = X[X["user"] != gone]
    pairs = all_pairs(queries_of(others), others)
    copied = pickle.loads(pickle.dumps(ranker)).forget([gone])
    # The songs that nobody else has are gone, and the term "song" counts those of the catalogue.
    assert set(copied.songs_) == set(others["song"])
    bound = ranker.history_.gain * np.log(len(ranker.songs_) / len(copied.songs_))
    difference = ranker.predict(pairs) - copied.predict(pairs)
    largest = bound * ranker.history_.coef_[..., TERMS.index("song")].max()
    assert (difference >= -1e-6).all()
    assert (difference <= largest + 1e-6).all()


def test_a_path_fits_the_terms_of_each_setting(X):
    ranker = MultitaskPlaylistRanker(history=("song",), random_state=0)
    settings = [{"user_l2": 0.1}, {"user_l2": 10.0}]
    path = regularization_path(ranker, X, settings)
    for fitted, setting in zip(path, settings, strict=True):
        alone = clone(ranker).set_params(**setting).fit(X)
        np.testing.assert_allclose(fitted.history_.coef_, alone.history_.coef_, atol=1e-6)
    assert (path[0].history_.coef_ != path[1].history_.coef_).any()


def test_no_user_has_two_playlists():
    X = playlists(n_users=20, n_playlists=20)
    ranker = MultitaskPlaylistRanker(history=("song",), random_state=0).fit(X)
    assert (ranker.history_.coef_[:, 1] == 0).all()


def test_owners_may_be_unknown(X):
    ranker = MultitaskPlaylistRanker(
        history=("song", "co-occurrence"), user=None, song_features="passthrough", random_state=0
    )
    rows = X[["playlist", "song", "x0", "x1"]]
    ranker.fit(rows)
    assert (ranker.history_.coef_[:, 1] == 0).all()
    assert ranker.history_.coef_[0, 0, 1] != 0
    assert np.isfinite(ranker.predict(rows)).all()


@pytest.mark.parametrize("terms", ["songs", ("songs",), ("song", "song"), ("collocation",)])
def test_terms_must_be_named(X, terms):
    with pytest.raises(ValueError, match="`terms` must be a tuple of distinct names"):
        MultitaskPlaylistRanker(history=terms).fit(X)


@pytest.mark.parametrize("history", [(), 3, {"song": 1}])
def test_what_history_may_be(X, history):
    with pytest.raises(ValueError, match="`history` must be None, HistoryTerms or names"):
        MultitaskPlaylistRanker(history=history).fit(X)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"gain": -1}, "`gain`"), ({"l1": -1}, "`l1`"), ({"similarity": "jaccard"}, "`similarity`")],
)
def test_parameters_are_checked(X, wrong, message):
    with pytest.raises(ValueError, match=message):
        MultitaskPlaylistRanker(history=HistoryTerms(**wrong)).fit(X)


def test_names_are_shorthand_for_terms(X, ranker):
    short = MultitaskPlaylistRanker(history=list(TERMS), random_state=0).fit(X)
    np.testing.assert_array_equal(short.history_.coef_, ranker.history_.coef_)
    assert MultitaskPlaylistRanker(history="song").fit(X).history_.terms == ("song",)


def test_parameters_are_tuned_by_name(X):
    ranker = MultitaskPlaylistRanker(history=HistoryTerms(("song",)), random_state=0)
    search = GridSearchCV(
        ranker, {"history__gain": [0.0, 2.0]}, cv=ColdPlaylistSplit(random_state=0)
    ).fit(X)
    assert search.best_params_ == {"history__gain": 2.0}
    assert search.best_estimator_.history_.gain == 2.0


def test_the_penalty_sets_weights_to_zero(X):
    strong = MultitaskPlaylistRanker(history=HistoryTerms(l1=100.0), random_state=0).fit(X)
    assert not strong.history_.coef_.any()
    assert not strong.history_.changes_scores()


def test_weights_as_a_table(ranker):
    table = ranker.history_.weights_
    assert table.columns.tolist() == list(TERMS)
    coef = ranker.history_.coef_
    assert table.loc[("new playlist", "known songs")].tolist() == coef[0, 1].tolist()
    assert table.loc[("known playlist", "new songs")].tolist() == coef[1, 0].tolist()


def test_new_songs_have_a_weight_of_their_own():
    """Songs of the user's artists are far likelier among new songs than scores alone can tell."""
    X = playlists(n_users=60, n_playlists=300, n_songs=400, n_artists=40)
    X = X[["user", "playlist", "song", "artist", "x0"]]
    ranker = MultitaskPlaylistRanker(history="artist", random_state=0).fit(X)
    coef = ranker.history_.coef_
    assert (coef[1] != coef[0]).all()
    assert (coef[1] != 0).all()


def test_held_out_songs_reach_no_feature(X):
    """The transformer of a hold-out fit sees neither rows nor memberships of its new songs."""
    seen = []

    class Spy(StandardScaler):
        def fit(self, songs, membership=None):
            seen.append((set(songs["song"]), csr_array(membership)))
            return super().fit(songs[["x0", "x1"]])

        def transform(self, songs):
            return super().transform(songs[["x0", "x1"]])

        def fit_transform(self, songs, membership=None):
            return self.fit(songs, membership).transform(songs)

    MultitaskPlaylistRanker(song_features=Spy(), history=TERMS, random_state=0).fit(X)
    whole, *held_out = seen
    assert len(held_out) > 1
    for songs, membership in held_out:
        assert len(songs) == len(whole[0]) - int(0.1 * len(whole[0]))
        assert membership.shape[0] == len(songs)
        assert membership.nnz < whole[1].nnz


@pytest.mark.filterwarnings("ignore:The solver did not converge")
def test_a_hold_out_fit_that_does_not_converge_is_reported(X):
    ranker = MultitaskPlaylistRanker(history="song", solver="owlqn", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="history terms without held-out playlists"):
        ranker.fit(X)
    assert not ranker.history_.converged_


@pytest.mark.parametrize("similarity", ["cosine", "ridge"])
def test_similarities_score_alike_after_a_pickle(X, similarity):
    history = HistoryTerms(similarity=similarity)
    ranker = MultitaskPlaylistRanker(history=history, random_state=0).fit(X)
    assert all(neighbors.nnz for neighbors in ranker.history_.neighbors_)
    pairs = all_pairs(queries_of(X).iloc[::9], X)
    copied = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copied.predict(pairs), ranker.predict(pairs))


def test_what_terms_need(X):
    with pytest.raises(ValueError, match="needs loss='classification'"):
        MultitaskPlaylistRanker(history=("song",), loss="ranking").fit(X)
    with pytest.raises(ValueError, match="got no column 'band'"):
        MultitaskPlaylistRanker(history=("artist",), artist="band").fit(X)
