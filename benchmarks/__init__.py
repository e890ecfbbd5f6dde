"""Benchmarks. Each module is a command that writes its figures, most also a plot, to `benchmarks/results/`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the commands set it; before NumPy is imported
