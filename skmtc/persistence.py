"""Models in files that are safe to load: data only, never code, through `skops`."""

import zipfile
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.base import BaseEstimator

import skmtc.features
import skmtc.rankers
from skmtc._typing import StrPath
from skmtc._utils.atomic_files import write_whole
from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import check_fitted_state, refuse
from skmtc._utils.packed_texts import packed_texts
from skmtc.features.recipes import Clip, FiniteNumbers
from skmtc.rankers.features import Columns

__all__ = ["load", "save", "trusted_types"]

# Estimators that public ones make for themselves.
INNER_TYPES = (Clip, Columns, FiniteNumbers)

# Types of other packages that hold numbers and names only, and that skops leaves for others to
# trust. The last is a list of columns in the ColumnTransformer of older versions of scikit-learn.
PLAIN_TYPES = (csc_array, csr_array, np.dtype)
PLAIN_NAMES = ("sklearn.compose._column_transformer._RemainderColsList",)


def save(model: Any, path: StrPath) -> None:
    """Store a model in a file that is safe to load.

    The file holds data only. It is written under another name first and then renamed, so that
    no half a file is left behind.

    Parameters
    ----------
    model : estimator
        A ranker or transformer of this package, fitted or not, or any scikit-learn estimator made
        of them and of scikit-learn's own, such as a Pipeline. Its callbacks are not stored.

    path : str or path-like
        Where to. The usual ending is ".skops".

    See Also
    --------
    load : Give the model back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skmtc import PopularityRanker
    >>> from skmtc.datasets import make_playlists
    >>> from skmtc.persistence import load, save
    >>> X = make_playlists(random_state=0)
    >>> ranker = PopularityRanker().fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, Path(folder) / "model.skops")
    ...     again = load(Path(folder) / "model.skops")
    >>> bool((again.predict(X) == ranker.predict(X)).all())
    True
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"A model must be a scikit-learn estimator; got {type(model).__name__}. Pass the "
            "fitted ranker or transformer itself."
        )
    skops_io = _import_skops()
    if hasattr(model, "set_callbacks"):
        model = copy(model).set_callbacks()  # none: who watched the fit is no part of the model
    try:
        with packed_texts():
            data = skops_io.dumps(model)
    except Exception as error:
        raise TypeError(
            f"A model must hold plain data and estimators only to be stored safely; got "
            f"{type(model).__name__} with a part that is neither ({error}). Replace that part, or "
            "pickle the model for your own use."
        ) from error
    foreign = sorted(set(skops_io.get_untrusted_types(data=data)) - set(trusted_types()))
    if foreign:
        raise TypeError(
            f"A model must hold plain data and estimators only to be stored safely; got {foreign}. "
            "Replace them, e.g. a function in a FunctionTransformer by a transformer of "
            "scikit-learn, or pickle the model for your own use."
        )
    write_whole(path, data)


def load(path: StrPath) -> Any:
    """Load a model from a file of `save`, without running any code of the file.

    Only plain data and the estimators of this package and of scikit-learn are created. The arrays
    of our estimators must be consistent: shapes, index ranges, sorted ids, finite values. A file
    made by another version of either is loaded with an `InconsistentVersionWarning`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        The model, which predicts as the stored one did to the last bit.

    See Also
    --------
    save : Store a model.

    Examples
    --------
    Any other file raises an error:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from skmtc.persistence import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.skops"
    ...     _ = path.write_bytes(b"no model")
    ...     load(path)
    Traceback (most recent call last):
    ...
    ValueError: ... must be a model stored by `skmtc.persistence.save`; got a file ...
    """
    skops_io = _import_skops()
    data = Path(path).read_bytes()
    try:
        _check_archive(data)
        foreign = sorted(set(skops_io.get_untrusted_types(data=data)) - set(trusted_types()))
        model = None if foreign else skops_io.loads(data, trusted=trusted_types())
        _check_parts(model)
    except Warning:  # of another version, where warnings are errors
        raise
    except Exception as error:
        raise ValueError(
            f"{path} must be a model stored by `skmtc.persistence.save`; got a file that is torn "
            f"or of another kind ({type(error).__name__}: {error}). Store the model again."
        ) from error
    if foreign:
        raise TypeError(
            f"{path} must hold plain data and estimators of skmtc and scikit-learn only; got "
            f"{foreign}. Do not load it unless you know who made it and why; then look at it with "
            "`skops.io`."
        )
    if not isinstance(model, BaseEstimator):
        raise ValueError(
            f"{path} must be a model stored by `skmtc.persistence.save`; got a "
            f"{type(model).__name__}. Load it with `skops.io`."
        )
    return model


def trusted_types() -> list[str]:
    """List the types that a stored model may hold beside those that `skops` always trusts.

    Returns
    -------
    names : list of str
        Full names: the estimators of this package, and sparse arrays and the like. For
        ``skops.io.load(file, trusted=trusted_types())``.

    Examples
    --------
    >>> from skmtc.persistence import trusted_types
    >>> "skmtc.rankers._popularity_ranker.PopularityRanker" in trusted_types()
    True
    """
    public = [
        getattr(module, name)
        for module in (skmtc.rankers, skmtc.features)
        for name in module.__all__
    ]
    ours = [t for t in public if isinstance(t, type) and issubclass(t, BaseEstimator)]
    types = (*ours, *INNER_TYPES, *PLAIN_TYPES)
    return sorted({f"{t.__module__}.{t.__qualname__}" for t in types} | set(PLAIN_NAMES))


def _import_skops():
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Safe files of models need the package skops; got no such package. Install it with "
            "`pip install skmtc[secure]`."
        ) from error
    return skops.io


def _check_archive(data):
    """Check that an archive is as `save` makes it: not compressed, and no member twice.

    So what is read from a file is never larger than the file.
    """
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = archive.infolist()
    names = {member.filename for member in members}
    packed = [m.filename for m in members if m.compress_type != zipfile.ZIP_STORED]
    if packed:
        raise ValueError(f"compressed members such as {packed[0]!r}")
    if len(names) < len(members) or sum(member.file_size for member in members) > len(data):
        raise ValueError("members that overlap")


def _check_parts(model):
    """Check the fitted state of all parts of a model, also of those inside other estimators.

    Sparse arrays must be whole wherever they are: a wrong index would read memory that is not
    theirs.
    """
    seen, parts = set(), [("model", model)]
    while parts:
        name, part = parts.pop()
        if id(part) in seen:  # a file may refer to one part many times
            continue
        seen.add(id(part))
        if issparse(part):
            _check_sparse(name, part)
        elif isinstance(part, dict):
            parts += [(str(key), value) for key, value in part.items()]
        elif isinstance(part, list | tuple):
            parts += [(name, value) for value in part]
        elif isinstance(part, BaseEstimator):
            if isinstance(part, VersionedState):
                check_fitted_state(part)
            parts += vars(part).items()


def _check_sparse(name, part):
    try:
        part.check_format(full_check=True)
    except Exception as error:  # whatever is not as scipy expects it
        refuse(name, "be a whole sparse array", f"{type(error).__name__}: {error}")
