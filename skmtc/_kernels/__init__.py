"""Every function that numba compiles, and how they are loaded."""
