"""Ridge regressions of many targets on the same features, by three solvers."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse import csc_array, csr_array, hstack, issparse
from sklearn.exceptions import ConvergenceWarning

from skmtc._utils.chunking import row_batches
from skmtc._utils.sparse import full_columns
from skmtc.optimize._arrays import row_dots

Array = NDArray[np.float64]
# Solves for the coefficients of some targets.
Solve = Callable[[Any], Array]

# A column with more non-zeros than this share is multiplied as a dense one.
FULL_COLUMN = 0.2
# Largest matrix to factorise: 10,000 squared numbers take 0.8 GB, and a minute.
MOST_FACTORISED = 10_000
# Conjugate gradients end when every residual is this share of its right-hand side.
CG_TOL = 1e-9
CG_MAX_ITER = 2000
# An inverse in single precision loses about as many digits as its condition number has. Beyond
# this bound of it, products with it would be off by a thousandth.
LARGEST_CONDITION = 1e4


def ridge_coef(
    features: Any, targets: Any, *, l2: float, fit_intercept: bool, solver: str = "auto"
) -> Array:
    """Solve a ridge regression for each row of targets.

    With features X and a target y, both less their means if there is an intercept, minimise
    |y - X w|^2 + l2 |w|^2.

    Parameters
    ----------
    features : array or csr_array of shape (n_songs, n_features)
        Features.

    targets : csr_array or ndarray of shape (n_targets, n_songs)
        What to predict, one regression per row.

    l2 : float
        Penalty on the squared norm of the coefficients.

    fit_intercept : bool
        Whether each regression has an intercept, which is not penalised.

    solver : {"auto", "cholesky", "dual", "cg"}, default="auto"
        How to solve it; "auto" chooses by size.

    Returns
    -------
    coef : ndarray of shape (n_targets, n_features) or (n_targets, n_features + 1)
        Coefficients; with an intercept it is the last column.
    """
    n_songs, n_features = features.shape
    columns = CentredColumns(features, centre=fit_intercept)
    coef = np.empty((targets.shape[0], n_features + bool(fit_intercept)))
    solve: Solve | None = None
    if n_features:  # LAPACK does not take empty matrices
        solve = RIDGE_SOLVERS[choose_solver(n_songs, n_features) if solver == "auto" else solver](
            columns, l2
        )
    for batch in row_batches(targets.shape[0], 24 * max(1, n_features, n_songs)):
        if solve is not None:
            coef[batch, :n_features] = solve(targets[batch])
        if fit_intercept:
            means = np.asarray(targets[batch].sum(axis=1)).ravel() / n_songs
            coef[batch, -1] = means - coef[batch, :n_features] @ columns.mean
    return coef


def ridge_factors(
    features: Any, targets: Any, *, l2: float, fit_intercept: bool
) -> tuple[csr_array, NDArray[np.floating[Any]]]:
    """Factorise the coefficients of many ridge regressions: `coef = mixing @ basis`.

    They are linear in the targets: with centred features X, w = (X'X + l2 I)^-1 X'y. Where features
    are sparse, X'y nearly is, and the inverse is the same for all targets. So both together take
    less room than the coefficients of more targets than there are features, and less time.

    Parameters
    ----------
    features : csr_array of shape (n_songs, n_features)
        Features.

    targets : csr_array of shape (n_targets, n_songs)
        What to predict, one regression per row.

    l2 : float
        Penalty on the squared norm of the coefficients.

    fit_intercept : bool
        Whether each regression has an intercept, which is not penalised.

    Returns
    -------
    mixing : csr_array of shape (n_targets, n_basis)
        What depends on the targets: X'y, and where features are centred the sum of y.

    basis : ndarray of shape (n_basis, n_coef)
        What does not: the inverse, a row for the means of sparse features and a column for the
        intercept. In single precision, or in double precision if `l2` is so small, relative to
        nearly collinear features, that single precision would not do.
    """
    columns = CentredColumns(features, centre=fit_intercept)
    inverse = _inverse(columns, l2)
    # The largest eigenvalue of X'X is at most its trace, the smallest of X'X + l2 I at least l2.
    is_exact_enough = columns.squared_norms().sum() <= LARGEST_CONDITION * l2
    dtype = np.float32 if is_exact_enough else np.float64
    n_features = len(inverse)
    products = columns.sparse_products(targets)
    if not fit_intercept:
        return products, inverse.astype(dtype, copy=False)
    # Sparse features are not centred: X'y lacks their means, times the sum of y.
    means_of_rest = np.zeros(n_features)
    means_of_rest[columns.rest] = columns.mean[columns.rest]
    of_means = means_of_rest @ inverse
    basis = np.empty((n_features + 1, n_features + 1), dtype=dtype)
    basis[:n_features, :n_features] = inverse
    basis[n_features, :n_features] = of_means
    # The intercept is the mean of y less that of the predictions without it.
    basis[:n_features, n_features] = -(inverse @ columns.mean)
    basis[n_features, n_features] = -(of_means @ columns.mean) - 1.0 / features.shape[0]
    sums = np.asarray(targets.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    return csr_array(hstack([products, -sums], format="csr")), basis


def choose_solver(n_songs: int, n_features: int) -> str:
    """Return the name of the cheapest solver for features of a shape."""
    if min(n_songs, n_features) > MOST_FACTORISED:
        return "cg"
    return "cholesky" if n_features <= n_songs else "dual"


def solve_cholesky(columns: "CentredColumns", l2: float) -> Solve:
    """Return a solver of w = (X'X + l2 I)^-1 X'y."""
    factor = _cholesky_factor(columns.gram, l2)

    def solve(targets: Any) -> Array:
        products = columns.products(targets)
        coef: Array = cho_solve(factor, products.T, overwrite_b=True, check_finite=False).T
        return coef

    return solve


def solve_dual(columns: "CentredColumns", l2: float) -> Solve:
    """Return a solver of w = X' (XX' + l2 I)^-1 y, the same weights by songs."""
    factor = _cholesky_factor(columns.kernel, l2)

    def solve(targets: Any) -> Array:
        dense = targets.toarray() if issparse(targets) else np.asarray(targets)
        if columns.is_centred:
            dense = dense - dense.mean(axis=1, keepdims=True)
        return columns.products(cho_solve(factor, dense.T, check_finite=False).T)

    return solve


def solve_cg(columns: "CentredColumns", l2: float) -> Solve:
    """Return a solver by conjugate gradients on (X'X + l2 I) w = X'y, with a Jacobi step."""
    inverse_diagonal = 1.0 / (columns.squared_norms() + l2)

    def multiply(weights: Array) -> Array:
        return columns.products(columns.times(weights)) + l2 * weights

    def solve(targets: Any) -> Array:
        residual = columns.products(targets)
        weights = np.zeros_like(residual)
        tolerance = CG_TOL * np.linalg.norm(residual, axis=1)
        scaled = residual * inverse_diagonal
        direction, size = scaled, row_dots(residual, scaled)
        for _ in range(CG_MAX_ITER):
            if (np.linalg.norm(residual, axis=1) <= tolerance).all():
                return weights
            image = multiply(direction)
            step = _ratio(size, row_dots(direction, image))[:, None]
            weights += step * direction
            residual = residual - step * image
            scaled = residual * inverse_diagonal
            size, before = row_dots(residual, scaled), size
            direction = scaled + _ratio(size, before)[:, None] * direction
        warnings.warn(
            f"Conjugate gradients did not converge in {CG_MAX_ITER} iterations. Increase `l2`, or "
            "set `solver` to 'cholesky' or 'dual' if memory allows.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return weights

    return solve


RIDGE_SOLVERS = {"cholesky": solve_cholesky, "dual": solve_dual, "cg": solve_cg}


def _cholesky_factor(make_gram: Callable[[], Array], l2: float) -> tuple[Array, bool]:
    """Return the Cholesky factor of a matrix of inner products plus l2 I, as `cho_factor` does.

    Features of very different size, such as ids among features of size 1, have inner products whose
    rounding is above `l2`, so that the smallest eigenvalues may be negative. Then a multiple of the
    rounding is added to `l2`: what is below it is unknown.
    """
    gram = make_gram()
    rounding = 8 * len(gram) * np.finfo(gram.dtype).eps * gram.diagonal().max()
    for penalty in (l2, l2 + rounding):
        gram[np.diag_indices_from(gram)] += penalty
        try:
            # The matrix is symmetric: its transpose is in the order of LAPACK, and is not copied.
            return cho_factor(gram.T, overwrite_a=True, check_finite=False)  # type: ignore[no-any-return]
        except LinAlgError:
            gram = make_gram()
    raise LinAlgError(
        "Ridge regression needs features whose inner products are finite; got a matrix that has no "
        "Cholesky factor. Standardise the features, or increase `l2`."
    )


def _inverse(columns: "CentredColumns", l2: float) -> Array:
    """Return (X'X + l2 I)^-1, in the memory of X'X."""
    factor, _ = _cholesky_factor(columns.gram, l2)
    inverse, _ = dpotri(factor, overwrite_c=1)
    # LAPACK fills the upper triangle; the transpose in the order of C has it in the lower one.
    whole: Array = inverse.T
    for batch in row_batches(len(whole), 24 * max(1, len(whole))):
        lower = np.tril(whole[batch, : batch.stop], batch.start)
        whole[batch, : batch.stop] = lower
        whole[: batch.start, batch] = lower[:, : batch.start].T
        corner = lower[:, batch.start :]
        whole[batch, batch] = corner + np.tril(corner, -1).T
    return whole


class CentredColumns:
    """Features whose dense and sparse columns are multiplied each in its own way.

    Vectors and identities side by side are a sparse matrix with some full columns. BLAS multiplies
    these ten times as fast as sparse products do. Columns are centred on the fly, so that sparse
    ones stay sparse.

    Parameters
    ----------
    features : array or csr_array of shape (n_songs, n_features)
        Features.

    centre : bool
        Whether to subtract the mean of each feature.
    """

    def __init__(self, features: Any, *, centre: bool) -> None:
        self.shape: tuple[int, int] = features.shape
        self.is_centred = centre
        if issparse(features):
            columns = csc_array(features)
            self.full, self.rest = full_columns(csr_array(features), FULL_COLUMN)
            self.dense: NDArray[Any] = columns[:, self.full].toarray()
            self.sparse = csr_array(columns[:, self.rest], dtype=np.float64)
        else:
            self.full, self.rest = np.arange(features.shape[1]), np.arange(0)
            self.dense = features
            self.sparse = csr_array((features.shape[0], 0))
        self.mean = np.zeros(self.shape[1])
        if centre and self.shape[1]:
            self.mean[self.full] = self.dense.mean(axis=0, dtype=np.float64)
            self.mean[self.rest] = self.sparse.sum(axis=0) / self.shape[0]

    def products(self, targets: Any) -> Array:
        """Return X'y for each row y of sparse or dense targets, as rows."""
        products = np.empty((targets.shape[0], self.shape[1]))
        products[:, self.full] = targets @ self.dense
        of_rest = targets @ self.sparse
        products[:, self.rest] = of_rest.toarray() if issparse(of_rest) else of_rest
        if self.is_centred:
            sums = np.asarray(targets.sum(axis=1), dtype=np.float64).ravel()
            products -= np.outer(sums, self.mean)
        return products

    def sparse_products(self, targets: csr_array) -> csr_array:
        """Return X'y as sparse rows, in which only dense columns are centred."""
        of_full = targets @ self.dense
        if self.is_centred:
            sums = np.asarray(targets.sum(axis=1), dtype=np.float64).ravel()
            of_full = of_full - np.outer(sums, self.mean[self.full])
        products = csr_array(hstack([csr_array(of_full), targets @ self.sparse], format="csr"))
        products.indices = np.concatenate([self.full, self.rest])[products.indices]
        products.has_sorted_indices = False
        products.sort_indices()
        return products

    def times(self, weights: Array) -> Array:
        """Return X w for each row w of weights, as rows."""
        found = np.asarray(weights[:, self.full] @ self.dense.T, dtype=np.float64)
        found += (self.sparse @ weights[:, self.rest].T).T
        if self.is_centred:
            found -= (weights @ self.mean)[:, None]
        return found

    def squared_norms(self) -> Array:
        """Return the sum of squares of each feature."""
        norms = np.empty(self.shape[1])
        norms[self.full] = np.square(self.dense, dtype=np.float64).sum(axis=0)
        norms[self.rest] = self.sparse.multiply(self.sparse).sum(axis=0)
        centred: Array = np.maximum(norms - self.shape[0] * self.mean**2, 0.0)
        return centred

    def gram(self) -> Array:
        """Return X'X."""
        full, rest = self.full, self.rest
        gram = np.zeros((self.shape[1], self.shape[1]))
        pairs = (self.sparse.T @ self.sparse).tocoo()
        gram[rest[pairs.row], rest[pairs.col]] = pairs.data
        mixed = self.sparse.T @ self.dense
        gram[np.ix_(rest, full)] = mixed
        gram[np.ix_(full, rest)] = mixed.T
        # Sparse columns are not centred, but corrected: their means are small.
        for batch in row_batches(len(gram), 24 * max(1, len(gram))):
            gram[batch] -= np.outer(self.shape[0] * self.mean[batch], self.mean)
        gram[np.ix_(full, full)] = self._dense_gram()
        return gram

    def kernel(self) -> Array:
        """Return XX', in blocks of songs."""
        kernel = np.empty((self.shape[0], self.shape[0]))
        by_feature = csr_array(self.sparse.T)
        centred = np.asarray(self.dense - self.mean[self.full], dtype=np.float64)
        offsets = self.sparse @ self.mean[self.rest]
        size = self.mean[self.rest] @ self.mean[self.rest]
        for batch in row_batches(self.shape[0], 24 * max(1, self.shape[0])):
            kernel[batch] = centred[batch] @ centred.T
            kernel[batch] += (self.sparse[batch] @ by_feature).toarray()
            kernel[batch] += size - offsets[batch, None] - offsets
        return kernel

    def _dense_gram(self) -> Array:
        # In batches, so that there is no centred copy of all songs.
        mean = self.mean[self.full]
        gram = np.zeros((len(mean), len(mean)))
        for batch in row_batches(len(self.dense), 16 * max(1, len(mean))):
            centred = self.dense[batch] - mean
            gram += centred.T @ centred
        return gram


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Return ratios; 0 where the denominator is 0, as for a target that is solved already."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
