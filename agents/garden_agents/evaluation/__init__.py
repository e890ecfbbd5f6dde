"""Measuring the strength of agents: matches, round robins, ratings, plots."""
