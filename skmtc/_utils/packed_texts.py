"""Arrays of texts as two arrays of numbers, for files that would spell out each text."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

BYTES, LENGTHS = "packed_texts", "lengths"
# Length that stands for None in the place of a text.
NONE = -1

_are_packed = ContextVar("texts are packed", default=False)


@contextmanager
def packed_texts() -> Iterator[None]:
    """Let estimators pack the arrays of texts of their state.

    skops describes each object of an array in a hundred characters and more, which makes the ids
    of 100,000 songs as large as their features, and slow to read.
    """
    token = _are_packed.set(True)
    try:
        yield
    finally:
        _are_packed.reset(token)


def pack_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an estimator to be stored, with texts packed if they shall be."""
    return {n: _packed(v) for n, v in state.items()} if _are_packed.get() else state


def unpack_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a stored state with the arrays of texts that were packed."""
    return {name: _unpacked(name, value) for name, value in state.items()}


def _packed(value: Any) -> Any:
    if type(value) is list:
        return [_packed(part) for part in value]
    is_array = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    if not is_array or not all(one is None or type(one) is str for one in value):
        return value
    # Texts from elsewhere may have halves of surrogate pairs, which strict UTF-8 does not.
    texts = [None if one is None else one.encode("utf-8", "surrogatepass") for one in value]
    lengths = np.array([NONE if one is None else len(one) for one in texts], dtype=np.int64)
    joined = b"".join(one for one in texts if one is not None)
    return {BYTES: np.frombuffer(joined, dtype=np.uint8), LENGTHS: lengths}


def _unpacked(name: str, value: Any) -> Any:
    if type(value) is list:
        return [_unpacked(name, part) for part in value]
    if type(value) is not dict or set(value) != {BYTES, LENGTHS}:
        return value
    joined, lengths = value[BYTES], value[LENGTHS]
    if not _fit_together(joined, lengths):
        raise ValueError(f"the packed texts of `{name}` must have bytes for all of their lengths")
    ends = np.cumsum(np.maximum(lengths, 0))
    whole = joined.tobytes()
    texts = np.empty(len(lengths), dtype=object)
    for place, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
        if length != NONE:
            texts[place] = whole[end - length : end].decode("utf-8", "surrogatepass")
    return texts


def _fit_together(joined: Any, lengths: Any) -> bool:
    are_arrays = all(isinstance(a, np.ndarray) and a.ndim == 1 for a in (joined, lengths))
    if not are_arrays or joined.dtype != np.uint8 or lengths.dtype != np.int64:
        return False
    in_range = ((lengths >= NONE) & (lengths <= len(joined))).all()
    return bool(in_range) and int(np.maximum(lengths, 0).sum()) == len(joined)
