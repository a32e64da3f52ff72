"""Damage and hostile values for the attack tests, and how many of them."""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np


class Attack:
    """How hard the tests attack: a few cases, or thousands with `pytest --attack`.

    Parameters
    ----------
    is_large : bool
        Whether `--attack` was given.
    """

    def __init__(self, is_large):
        self.is_large = is_large

    def times(self, few, many):
        """Return a number of cases."""
        return many if self.is_large else few

    def record(self, what, counts):
        """Append counts to the file that the environment variable SKMTC_ATTACK_LOG names."""
        log = os.environ.get("SKMTC_ATTACK_LOG")
        if log:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"attack": what, **Counter(counts)}) + "\n")


def damaged_copies(whole, n_copies, seed):
    """Yield copies of some bytes with a bit flipped, an end cut off, or a piece overwritten."""
    rng = np.random.default_rng(seed)
    for case in range(n_copies):
        content = bytearray(whole)
        place = int(rng.integers(len(content)))
        if case % 3 == 0:
            del content[place:]
        elif case % 3 == 1:
            content[place] ^= 1 << int(rng.integers(8))
        else:
            piece = rng.integers(256, size=int(rng.integers(1, 64))).astype(np.uint8).tobytes()
            content[place : place + len(piece)] = piece
        if content != whole:
            yield bytes(content)
