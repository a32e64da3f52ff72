"""What every part of the package may use: checks, blocks, threads, files, estimator state."""
