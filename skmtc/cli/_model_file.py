"""Read and write model files: skops files, or pickles with --trust."""

import pickle
from importlib.util import find_spec
from pathlib import Path

from skmtc._utils.atomic_files import write_whole
from skmtc.cli._errors import CommandError
from skmtc.cli._progress_lines import note
from skmtc.persistence import load, save

ZIP = b"PK\x03\x04"


def check_model_path(path):
    """Check that a model can be written to a path."""
    path = Path(path)
    if path.is_dir():
        raise CommandError(f"--out must be a file; got the folder {str(path)!r}. Name a file.")
    if not path.resolve().parent.is_dir():
        raise CommandError(
            f"--out must be in a folder that exists; got {str(path)!r}. Make the folder first."
        )


def write_model(ranker, path):
    """Write a fitted ranker atomically."""
    if Path(path).suffix in (".pkl", ".pickle"):
        write_whole(path, pickle.dumps(ranker))
    elif find_spec("skops") is None:
        note(
            "skops is not installed, so the model is a pickle, which is loaded with --trust only; "
            "pip install skops"
        )
        write_whole(path, pickle.dumps(ranker))
    else:
        _save(ranker, path)


def read_model(path, *, trust=False):
    """Read a fitted ranker; a pickle only if it is trusted."""
    with open(path, "rb") as file:
        is_archive = file.read(len(ZIP)) == ZIP
    if is_archive:
        ranker = _load(path)
    elif not trust:
        raise CommandError(
            f"A model must be a skops file; got {str(path)!r}, which is a pickle or no model at "
            "all. A pickle can run any code: pass --trust if you made it yourself."
        )
    else:
        ranker = _from_pickle(path)
    if not hasattr(ranker, "recommend"):
        raise CommandError(
            f"A model must be a ranker; got {type(ranker).__name__} from {str(path)!r}. Make one "
            "with `skmtc fit`."
        )
    return ranker


def _save(ranker, path):
    try:
        save(ranker, path)
    except TypeError as error:
        raise CommandError(f"{error} For a pickle let the name end in .pkl.") from error


def _load(path):
    try:
        return load(path)
    except ImportError as error:
        raise CommandError(
            f"{str(path)!r} needs skops, which is not installed. pip install skops"
        ) from error
    except (TypeError, ValueError) as error:
        raise CommandError(str(error)) from error


def _from_pickle(path):
    try:
        return pickle.loads(Path(path).read_bytes())
    except Exception as error:  # a damaged pickle raises anything
        raise CommandError(
            f"{str(path)!r} is no pickle that can be read here ({type(error).__name__}: {error}). "
            "Fit the model again."
        ) from error
