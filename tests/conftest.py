"""Settings of the whole suite."""

import os

from hypothesis import settings

# The same examples on every machine, however slow it is.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# scikit-learn's array API checks run only with this, and only if it is set before scipy loads.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
