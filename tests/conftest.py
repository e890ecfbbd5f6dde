"""What tests of several rooms use."""

import sys
from pathlib import Path

import pytest

MARK = "import pathlib\npathlib.Path({!r}).touch()\n"


@pytest.fixture
def trap(tmp_path, monkeypatch) -> Path:
    """A module `trap` on the path that leaves a mark when it is imported: the mark."""
    mark = tmp_path / "mark"
    (tmp_path / "trap.py").write_text(MARK.format(str(mark)) + "from pig import Pig\n")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("trap", None)
    return mark
