"""Names for new files and folders, and locks."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from garden_core.files.disk import Lock, new_file, new_folder

HOLD = """
import sys, time
from pathlib import Path
from garden_core.files.disk import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("new", [new_folder, new_file])
def test_no_two_get_the_same_name(new, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(new, [tmp_path / "games.json"] * 32))
    assert set(made) == set(tmp_path.iterdir())
    assert len(set(made)) == 32
    assert new(tmp_path / "games.json").name == "games-33.json"


def test_a_lock_holds_against_other_processes_until_its_own_ends(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="is in use by another process"):
            Lock(tmp_path)
    finally:
        process.kill()
        process.communicate()
    Lock(tmp_path).close()
    held = Lock(tmp_path)
    with pytest.raises(ValueError, match="is in use by another process"):
        Lock(tmp_path)
    held.close()
    Lock(tmp_path)
