"""Baseline agents, their training and an arena; run from a checkout: `python -m agents.train --help`."""

import os

# Idle threads of torch's OpenMP then sleep instead of spinning: beside one busy process, two threads keep
# most of their speed where they would fall to a third (GNU's OpenMP; read once, when torch is imported).
os.environ.setdefault("GOMP_SPINCOUNT", "0")
