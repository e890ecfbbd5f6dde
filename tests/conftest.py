"""What tests of several rooms use."""

import os
import sys
from pathlib import Path

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows that nobody sees, also where there is no screen

MARK = "import pathlib\npathlib.Path({!r}).touch()\n"


@pytest.fixture
def trap(tmp_path, monkeypatch) -> Path:
    """A module `trap` on the path that leaves a mark when it is imported: the mark."""
    mark = tmp_path / "mark"
    (tmp_path / "trap.py").write_text(MARK.format(str(mark)) + "from pig import Pig\n")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("trap", None)
    return mark
