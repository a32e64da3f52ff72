"""Where and with what a benchmark ran."""

import contextlib
import importlib.metadata
import math
import os
import platform
import sys
from datetime import date
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

PACKAGES = ("skmtc", "numpy", "scipy", "scikit-learn")


def machine(*packages):
    """Return machine, date and versions, as the last columns of a table."""
    names = (*PACKAGES, *packages)
    versions = "; ".join(f"{name} {version(name)}" for name in names if version(name))
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "date": date.today().isoformat(),
        "versions": f"Python {platform.python_version()}; {versions}",
    }


def write_table(table, path, *packages):
    """Write a table of figures as CSV, each row with machine, date and versions."""
    table.assign(**machine(*packages)).to_csv(path, index=False)


def version(package):
    """Return the version of an installed package; None where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def peak_megabytes():
    """Return the peak memory of this process, NaN on Windows; a Mac counts in bytes, not in kB."""
    if resource is None:
        return math.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak():
    """Start the peak anew, where the system can and lets us."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _processor():
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
