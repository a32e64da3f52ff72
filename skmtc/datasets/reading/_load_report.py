"""Counts of what a loader dropped and repaired, by reason."""

import warnings
from collections import Counter


class LoadReport:
    """Counts of what a loader left out or repaired, so that nothing is lost silently.

    Parameters
    ----------
    name : str
        What is loaded, for messages.

    Attributes
    ----------
    dropped, repaired : Counter
        Counts by reason.
    """

    def __init__(self, name):
        self.name = name
        self.dropped = Counter()
        self.repaired = Counter()
        self._asked_for = set()

    def drop(self, reason, count=1, *, asked_for=False):
        """Count what is left out; `asked_for` says that the caller's own filter did it."""
        self.dropped[reason] += int(count)
        if asked_for:
            self._asked_for.add(reason)

    def repair(self, reason, count=1):
        """Count what was repaired."""
        self.repaired[reason] += int(count)

    def counts(self):
        """Return both counters as plain dicts, without zeros."""
        return {
            "dropped": {reason: n for reason, n in self.dropped.items() if n},
            "repaired": {reason: n for reason, n in self.repaired.items() if n},
        }

    def warn(self, stacklevel):
        """Warn of what was dropped because it could not be read."""
        parts = [
            f"{count} {reason}"
            for reason, count in self.dropped.items()
            if count and reason not in self._asked_for
        ]
        if parts:
            warnings.warn(
                f"Not all of {self.name} could be read; left out: {', '.join(parts)}. The counts "
                "are in `dropped`.",
                stacklevel=stacklevel,
            )

    def listing(self):
        """List all counts in one line, for messages and descriptions."""
        kinds = self.counts()
        parts = [
            f"{kind} {count} {reason}"
            for kind, counts in kinds.items()
            for reason, count in counts.items()
        ]
        return "; ".join(parts) or "nothing dropped"
