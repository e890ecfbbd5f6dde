"""Benchmarks: each a module to run, which writes numbers and a plot into `benchmarks/results/`."""
