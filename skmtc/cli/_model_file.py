"""Files of models: skops, which loads without running code, or pickle for those who trust it."""

import pickle
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from skmtc.cli._errors import CommandError
from skmtc.cli._files import write_whole
from skmtc.cli._progress import note

ZIP = b"PK\x03\x04"
# Parts of fitted models that skops itself does not vouch for. None of them runs what it reads.
HARMLESS = {
    "numpy.clip",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.utils._bunch.Bunch",
}


def check_model_path(path):
    """Check, before any work, that a model can be written there."""
    path = Path(path)
    if path.is_dir():
        raise CommandError(f"--out must be a file; got the folder {str(path)!r}. Name a file.")
    if not path.resolve().parent.is_dir():
        raise CommandError(
            f"--out must be in a folder that exists; got {str(path)!r}. Make the folder first."
        )


def write_model(ranker, path):
    """Write a fitted ranker, whole or not at all."""
    if _is_pickle(path):
        write_whole(path, pickle.dumps(ranker))
        return
    if find_spec("skops") is None:
        note(
            "skops is not installed, so the model is a pickle, which is loaded with --trust only; "
            "pip install 'skmtc[secure]'"
        )
        write_whole(path, pickle.dumps(ranker))
        return
    import skops.io

    try:
        content = skops.io.dumps(ranker)
    except Exception as error:  # whatever a type that skops cannot store raises
        raise CommandError(
            f"{type(ranker).__name__} cannot be stored by skops ({error}). Store it as a pickle: "
            "let the name end in .pkl."
        ) from error
    write_whole(path, content)


def read_model(path, *, trust=False):
    """Read a fitted ranker; a pickle only if it is trusted."""
    content = Path(path).read_bytes()
    if content.startswith(ZIP):
        ranker = _from_skops(content, path)
    elif not trust:
        raise CommandError(
            f"A model must be a skops file; got {str(path)!r}, which is a pickle or no model at "
            "all. A pickle can run any code: pass --trust if you made it yourself."
        )
    else:
        ranker = _from_pickle(content, path)
    if not hasattr(ranker, "recommend"):
        raise CommandError(
            f"A model must be a ranker; got {type(ranker).__name__} from {str(path)!r}. Make one "
            "with `skmtc fit`."
        )
    return ranker


def _is_pickle(path):
    return Path(path).suffix in (".pkl", ".pickle")


def _from_pickle(content, path):
    try:
        return pickle.loads(content)
    except Exception as error:  # a damaged pickle raises anything
        raise CommandError(
            f"{str(path)!r} is no pickle that can be read here ({type(error).__name__}: {error}). "
            "Fit the model again."
        ) from error


def _from_skops(content, path):
    if find_spec("skops") is None:
        raise CommandError(
            f"{str(path)!r} needs skops, which is not installed. pip install 'skmtc[secure]'"
        )
    import skops.io

    try:
        unknown = skops.io.get_untrusted_types(data=content)
        strange = [name for name in unknown if not _is_trusted(name)]
        if not strange:
            return skops.io.loads(content, trusted=unknown)
    except Exception as error:  # a damaged or foreign archive raises anything
        raise CommandError(
            f"{str(path)!r} is no whole model of this version ({type(error).__name__}: {error}). "
            "Fit the model again."
        ) from error
    raise CommandError(
        f"A model must be made of this package's and scikit-learn's types; got {strange} in "
        f"{str(path)!r}. Load it with skops.io.load in Python if you trust them."
    )


def _is_trusted(name):
    """Trust classes of this package, and a few harmless ones; never functions."""
    if name in HARMLESS:
        return True
    module, _, attribute = name.rpartition(".")
    if module.split(".")[0] != "skmtc":
        return False
    try:
        return isinstance(getattr(import_module(module), attribute), type)
    except (ImportError, AttributeError):
        return False
