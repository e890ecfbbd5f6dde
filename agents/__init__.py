"""Baseline agents, their training and an arena; run from a checkout: `python -m agents.train --help`."""
