"""Tests of libraries with separate environments are collected if `make test-clients` has installed these."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = all((ROOT / f".venv-{library}" / "installed").exists() for library in ("openenv", "verifiers"))
collect_ignore = [] if MADE else ["test_language_models.py"]
