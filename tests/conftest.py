"""Settings of the whole suite."""

import os

# scikit-learn's array API checks run only with this, and only if it is set before scipy loads.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
