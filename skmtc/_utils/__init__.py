"""Utilities: checks, blocks, threads, files, estimator state."""
