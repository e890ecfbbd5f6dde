"""Benchmarks. Each module is run by itself and writes its figures, most also a plot, to `benchmarks/results/`."""
