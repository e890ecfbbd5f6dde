"""What runs in environments of its own is collected where `make test-clients` has made them."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = all((ROOT / f".venv-{library}" / "installed").exists() for library in ("openenv", "verifiers"))
collect_ignore = [] if MADE else ["test_language_models.py"]
