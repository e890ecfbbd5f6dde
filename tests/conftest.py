"""Which tests are thorough, and fixtures of several folders."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"  # invisible windows, also without a screen
if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # other processes, in which any warning is an error, import what others wrote
    os.environ.pop("PYTHONWARNDEFAULTENCODING", None)

# These need what `pip install .[test]` installs.
collect_ignore = [] if find_spec("sb3_contrib") else ["agents", "fuzz"]

THOROUGH = (
    "agents/test_agent_checks.py agents/test_arena.py agents/test_identity.py "
    "agents/test_independence.py agents/test_leaderboard.py agents/test_mixed.py agents/test_networks.py "
    "agents/test_play.py agents/test_ppo.py agents/test_processes.py agents/test_programs.py agents/test_progress.py "
    "agents/test_record_command.py agents/test_recorded.py agents/test_report.py "
    "agents/test_strangers.py agents/test_text.py agents/test_training.py clients/ core/test_cache "
    "core/test_conformance core/test_dataset.py core/test_descriptions.py core/test_display.py "
    "core/test_film.py core/test_numba_private.py core/test_snapshots.py "
    "core/test_threads.py core/test_torch_dataset.py core/test_tricks.py cuda/ fuzz/ "
    "games/botanicus/test_botanicus_drawing.py games/botanicus/test_botanicus_features.py "
    "games/cacti/test_cacti_best_response.py games/cacti/test_cacti_drawing.py "
    "games/mars/test_mars_drawing.py games/mars/test_mars_features.py games/test_pictures.py games/test_states.py "
    "interfaces/test_human.py interfaces/test_record.py site/ test_benchmarks.py test_docs.py "
    "test_examples.py wasm/ web/"
)
"""Files and folders of tests that `make test` leaves to `make test-all`, except those marked `quick`."""
FIRST = ("web/", "site/", "wasm/", "clients/", "agents/")
"""Folders with the longest files, which begin first so that no process waits for the other at the end."""
MARK = "import pathlib\npathlib.Path({!r}).touch()\n"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of `THOROUGH`, and put those of `FIRST` first."""

    def place_of(item):
        return item.path.relative_to(Path(__file__).parent).as_posix()

    items.sort(key=lambda item: not place_of(item).startswith(FIRST))
    for item in items:
        place = place_of(item)
        if place.startswith(tuple(THOROUGH.split())) and not item.get_closest_marker("quick"):
            item.add_marker("thorough")


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module `trap` on the path that leaves a mark when it is imported: the mark."""
    mark = tmp_path / "mark"
    (tmp_path / "trap.py").write_text(MARK.format(str(mark)) + "from pig import Pig\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("trap", None)
    return mark
