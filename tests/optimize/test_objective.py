"""The multitask objective against the paper's formula."""

import numpy as np
import pytest
from problems import make_coef, make_objective, make_problem, transcribed_risk
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn import config_context

from skmtc.optimize import MultitaskObjective, _pass, solve_owlqn

PUSHES = [0.5, 1.0, 2.0, 8.0]
LOSSES = ["classification", "ranking"]
RISKS = ["classification", "p-norm push", "bottom-push", "bottom-push exponential"]


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_gradient_equals_finite_differences(push, loss, fit_intercept):
    objective = make_objective(0, push=push, loss=loss, fit_intercept=fit_intercept)
    coef = make_coef(objective, scale=0.2)

    def smooth(flat):
        return objective.value_and_gradient(flat.reshape(objective.shape))[0]

    expected = approx_fprime(coef.ravel(), smooth, 1e-7).reshape(objective.shape)
    gradient = objective.value_and_gradient(coef)[1]
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("kind", RISKS)
def test_risks_equal_the_papers_formulas(push, kind):
    features, membership, owners = make_problem(1)
    objective = MultitaskObjective(features, membership, owners, push=push)
    coef = make_coef(objective)
    extended = np.hstack([features, np.ones((len(features), 1))])
    weights = coef[0] + coef[1:6][owners] + coef[6:]
    expected = transcribed_risk(extended, membership, weights, push, kind)
    np.testing.assert_allclose(objective.risk(coef, kind), expected, rtol=1e-12)


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize(("loss", "kind"), [*zip(LOSSES, RISKS[:2], strict=True)])
def test_value_is_the_risk_and_the_three_penalties(push, loss, kind):
    objective = make_objective(2, push=push, loss=loss)
    coef = make_coef(objective)
    lambda1, lambda2, lambda3 = 0.4 / 12, 0.15 / 12, 0.02
    penalty = (
        lambda1 * (coef[1:6] ** 2).sum()
        + lambda2 * np.abs(coef[6:]).sum()
        + lambda3 * np.abs(coef[0]).sum()
    )
    np.testing.assert_allclose(objective.value(coef), objective.risk(coef, kind) + penalty)


def test_value_by_hand():
    # One feature, no intercept, all weights in the playlist row: scores 1 and -1.
    objective = MultitaskObjective(
        [[1.0], [-1.0]], [[1, 0]], [0], user_l2=1, playlist_l1=3, push=2, fit_intercept=False
    )
    coef = np.array([[0.0], [0.0], [1.0]])
    np.testing.assert_allclose(objective.value(coef), np.exp(-2) / 2 + np.exp(-1) + 3)
    np.testing.assert_allclose(objective.risk(coef, "bottom-push"), 0.0)
    assert objective.risk(-coef, "bottom-push") == 1.0


@pytest.mark.parametrize("loss", LOSSES)
def test_dense_equals_sparse(loss):
    dense = make_objective(3, loss=loss)
    sparse = make_objective(3, loss=loss, features=csr_array)
    coef = make_coef(dense)
    value, gradient = dense.value_and_gradient(coef)
    sparse_value, sparse_gradient = sparse.value_and_gradient(coef)
    np.testing.assert_allclose(sparse_value, value, rtol=1e-13)
    np.testing.assert_allclose(sparse_gradient, gradient, atol=1e-13)
    for kind in RISKS:
        np.testing.assert_allclose(sparse.risk(coef, kind), dense.risk(coef, kind))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_float32_is_close_to_float64(loss, convert):
    double = make_objective(4, loss=loss)
    single = make_objective(4, loss=loss, features=lambda x: convert(x.astype(np.float32)))
    assert single.features.dtype == np.float32
    coef = make_coef(double)
    value, gradient = double.value_and_gradient(coef)
    single_value, single_gradient = single.value_and_gradient(coef)
    np.testing.assert_allclose(single_value, value, rtol=1e-6)
    np.testing.assert_allclose(single_gradient, gradient, atol=1e-6)
    assert single_gradient.dtype == np.float64


def test_blocks_change_nothing(monkeypatch):
    objective = make_objective(5)
    coef = make_coef(objective)
    value, gradient = objective.value_and_gradient(coef)
    monkeypatch.setattr(_pass, "BLOCK_ROWS", 5)
    monkeypatch.setattr(_pass, "TILE_SONGS", 7)
    with config_context(working_memory=1e-3):
        cut = make_objective(5, n_jobs=2)
        cut_value, cut_gradient = cut.value_and_gradient(coef)
        risk = cut.risk(coef, "bottom-push")
    np.testing.assert_allclose(cut_value, value, rtol=1e-14)
    np.testing.assert_allclose(cut_gradient, gradient, atol=1e-14)
    assert risk == objective.risk(coef, "bottom-push")


@pytest.mark.parametrize("scale", [1e3, 1e4, 1e200])
@pytest.mark.parametrize("loss", LOSSES)
def test_overflow_is_infinite_never_nan(scale, loss):
    objective = make_objective(7, loss=loss, features=lambda x: x.astype(np.float32))
    coef = scale * np.ones(objective.shape)
    value, gradient = objective.value_and_gradient(coef)
    assert value == np.inf
    assert np.isfinite(gradient).all()
    assert objective.value(coef) == np.inf
    assert objective.kkt_residual(coef) == np.inf


def test_kkt_residual_is_zero_only_at_the_minimum():
    objective = make_objective(8)
    result = solve_owlqn(objective, tol=1e-7, max_iter=5000)
    assert result.converged
    assert objective.kkt_residual(result.coef) <= 1e-7
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2):
        moved = result.coef + size * rng.normal(size=objective.shape)
        assert objective.kkt_residual(moved) > 1e-2 * size
        assert objective.value(moved) > result.objective


def test_kkt_residual_by_hand():
    # At zero: each loss is exp(-w) + (1 + exp(2w)) / 2, so its derivative is -1 + 1 = 0 for the
    # feature and -1 + 1 = 0 for the constant; with the positive at 3 it is -3 + 1 = -2.
    objective = MultitaskObjective(
        [[3.0], [0.0], [2.0]], [[1, 0, 0]], [0], user_l2=1, playlist_l1=0.5, shared_l1=0.25
    )
    assert objective.kkt_residual(objective.zeros()) == pytest.approx(2.0)


def test_lemma_1():
    # Without penalties, with the constant feature, the minimiser of the classification risk is a
    # stationary point of the p-norm push risk.
    for push in (0.5, 1.0, 2.0):
        shape = {"n_songs": 60, "n_features": 2, "n_playlists": 8, "n_users": 3}
        free = {"user_l2": 0.0, "playlist_l1": 0.0, "shared_l1": 0.0, "push": push}
        classification = make_objective(9, shape=shape, **free)
        ranking = make_objective(9, shape=shape, loss="ranking", **free)
        minimiser = solve_owlqn(classification, tol=1e-10, max_iter=20_000).coef
        value, gradient = ranking.value_and_gradient(minimiser)
        assert classification.kkt_residual(minimiser) < 1e-8
        assert np.abs(gradient).max() < 1e-7 * value
        # The lemma says something only if the gradient is not always zero.
        assert np.abs(ranking.value_and_gradient(classification.zeros())[1]).max() > 1e-3 * value


def test_a_playlists_fit_ignores_strangers():
    features, membership, owners = make_problem(10)
    alone = MultitaskObjective(features, membership[:5], owners[:5], shared_l1=1e6)
    coef = solve_owlqn(alone, tol=1e-9, max_iter=5000).coef
    together = MultitaskObjective(features, membership, owners, shared_l1=1e6)
    both = solve_owlqn(together, tol=1e-9, max_iter=5000).coef
    strangers = np.flatnonzero(~np.isin(owners[:5], owners[5:]))
    assert len(strangers)
    np.testing.assert_allclose(both[1 + owners[strangers]], coef[1 + owners[strangers]], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"user_l2": -1.0}, ["`user_l2`", "-1.0"]),
        ({"playlist_l1": np.nan}, ["`playlist_l1`", "nan"]),
        ({"push": 0.0}, ["`push`", "above 0"]),
        ({"loss": "hinge"}, ["`loss`", "'hinge'"]),
    ],
)
def test_bad_parameters_are_reported(change, parts):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        make_objective(0, **change)
    assert all(part in str(raised.value) for part in parts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("push", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("constant", [-1000.0, -100.0, -5.0, 5.0, 94.0, 1000.0])
def test_a_ranking_loss_does_not_change_with_a_constant(dtype, push, constant):
    objective = make_objective(
        11, push=push, loss="ranking", shared_l1=0.0, features=lambda x: x.astype(dtype)
    )
    coef = make_coef(objective)
    moved = coef.copy()
    moved[0, -1] += constant
    rtol = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(objective.value(moved), objective.value(coef), rtol=rtol)
    np.testing.assert_allclose(
        objective.value_and_gradient(moved)[1],
        objective.value_and_gradient(coef)[1],
        atol=rtol * np.abs(objective.value_and_gradient(coef)[1]).max(),
    )
    for kind in ("p-norm push", "bottom-push exponential"):
        np.testing.assert_allclose(
            objective.risk(moved, kind), objective.risk(coef, kind), rtol=rtol
        )


def test_the_callers_membership_is_left_alone():
    membership = csr_array(([1, 1, 1], ([0, 0, 0], [2, 0, 0])), shape=(1, 3))
    twice = csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    objective = MultitaskObjective([[1.0], [2.0], [3.0]], twice, [0])
    assert twice.indices.tolist() == [2, 0, 0]
    assert objective.positives.counts.tolist() == [2]
    assert objective.value(objective.zeros()) == MultitaskObjective(
        [[1.0], [2.0], [3.0]], membership, [0]
    ).value(objective.zeros())


def test_indices_are_of_one_type_whoever_made_them():
    features, membership, users = make_problem(0)
    large = csr_array(membership)
    large.indices, large.indptr = large.indices.astype("int64"), large.indptr.astype("int64")
    objective = MultitaskObjective(features, large, users)
    assert {a.dtype.name for a in (objective.membership.indices, objective.membership.indptr)} == {
        "int32"
    }
    assert large.indices.dtype == "int64"


def test_bad_playlists_and_risks_are_reported():
    with pytest.raises(ValueError, match="1 empty and 1 full"):
        MultitaskObjective([[1.0], [2.0]], [[0, 0], [1, 1], [1, 0]], [0, 0, 0])
    with pytest.raises(ValueError, match="one row per song; got 2 rows for 3 songs"):
        MultitaskObjective([[1.0], [2.0]], [[1, 0, 0]], [0])
    with pytest.raises(ValueError, match="must be finite; got 1 values"):
        MultitaskObjective([[np.nan], [2.0]], [[1, 0]], [0])
    with pytest.raises(ValueError, match="got 2 codes from 0 to 2"):
        MultitaskObjective([[1.0], [2.0]], [[1, 0], [0, 1]], [0, 2])
    with pytest.raises(ValueError, match="one owner per playlist; got 1 for 2"):
        MultitaskObjective([[1.0], [2.0]], [[1, 0], [0, 1]], [0])
    objective = make_objective(0)
    with pytest.raises(ValueError, match="`kind` must be"):
        objective.risk(objective.zeros(), "hinge")
