"""`min_frequency` of encoders: a count of rows, or a share of them."""

from numbers import Integral, Real


def check_frequency(value):
    """Raise if `min_frequency` is neither a positive integer nor a share between 0 and 1."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if is_real and (value >= 1 if isinstance(value, Integral) else 0 < value < 1):
        return
    raise ValueError(
        "`min_frequency` must be a positive integer, or a share between 0 and 1; got "
        f"{value!r}. Change `min_frequency`."
    )


def fewest_rows(min_frequency, n_rows):
    """Return the fewest rows that a value must have to be used."""
    return min_frequency if isinstance(min_frequency, Integral) else min_frequency * n_rows
