"""Benchmarks. Each module is a command that writes its figures, most also a plot, to `benchmarks/results/`."""
