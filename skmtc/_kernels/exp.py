"""The exponential of many single-precision numbers; import only where numba is installed."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

LOWEST, HIGHEST = np.float32(-87.3), np.float32(88.7)
PER_OCTAVE, OCTAVE = np.float32(1.0 / np.log(2.0)), np.float32(np.log(2.0))
# Adding and subtracting this rounds a number to the nearest integer.
ROUNDER = np.float32(1.5 * 2**23)
# Of all polynomials of degree 5 that are 1 at 0, the one whose largest relative error within half
# an octave of 0 is smallest: 9.2e-8 (by reweighted least squares); degree 4 would be off by 3e-6.
A1, A2, A3 = np.float32(0.999999707), np.float32(0.499991491), np.float32(0.166676366)
A4, A5, ONE = np.float32(0.0418979892), np.float32(0.0082903117), np.float32(1.0)
SHIFT, BIAS = np.int32(23), np.int32(127)


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def exp_in_place(values: NDArray[Any]) -> None:
    """Replace each number of a flat float32 array by its exponential.

    Four to five times as fast as numpy where there is no AVX-512, because it does what a sum of
    exponentials of single-precision scores needs, and no more: the relative error is 2e-7 up to 5
    and 4e-7 up to 80, less than rounding a score of that size makes; below -87.3 the result
    stays at 1e-38, and from 88.4 on it is infinite.
    """
    # e^x = 2^n e^r with n = round(x / log 2) and |r| <= log(2) / 2
    for i in range(values.size):
        value = min(max(values[i], LOWEST), HIGHEST)
        octaves = (value * PER_OCTAVE + ROUNDER) - ROUNDER
        rest = value - octaves * OCTAVE
        series = A5
        series = series * rest + A4
        series = series * rest + A3
        series = series * rest + A2
        series = series * rest + A1
        series = series * rest + ONE
        # 2^n by its bits: n + 127 in the place of the exponent
        power = np.int32((np.int32(octaves) + BIAS) << SHIFT).view(np.float32)
        values[i] = series * power
