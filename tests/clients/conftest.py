"""Tests of what has an environment of its own are collected if `make test-clients` has installed it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDS = {
    "test_language_models.py": ("openenv", "verifiers"),
    "test_small_model.py": ("llama", "openenv", "verifiers"),
}
collect_ignore = [
    file
    for file, libraries in NEEDS.items()
    if not all((ROOT / f".venv-{library}" / "installed").exists() for library in libraries)
]
