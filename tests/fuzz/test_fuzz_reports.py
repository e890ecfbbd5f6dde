"""Reports of a stranger's run: a page without markup of the stranger's, or an error in one line."""

import random
import re

import fuzzing
import pytest
from garden_agents.report.page import page
from written_runs import write_run

FILES = ("config.toml", "metrics.csv", "evaluations.csv", "evaluation.json")


@fuzzing.each_block
def test_damaged_files(numbers, tmp_path):
    run = write_run(tmp_path / "run")
    whole = {name: (run / name).read_bytes() for name in FILES}
    for number in numbers:
        rng = random.Random(number)
        damaged = rng.sample(FILES, rng.randint(1, len(FILES)))
        for name, content in whole.items():
            (run / name).write_bytes(fuzzing.damaged(content, rng) if name in damaged else content)
        text, _ = fuzzing.outcome(lambda: page(run, games=0), ValueError, names="config.toml")
        if text is not None:
            assert len(re.findall("<script", text)) == 1
            assert len(text) < 1_000_000
            text.encode()


@pytest.mark.parametrize("name", FILES)
def test_special_files(name, tmp_path):
    run = write_run(tmp_path / "run")
    (tmp_path / "special").mkdir()
    for path in fuzzing.special_paths(tmp_path / "special"):
        (run / name).unlink()
        (run / name).symlink_to(path)
        text, _ = fuzzing.outcome(lambda: page(run, games=0), ValueError, names="config.toml")
        assert (text is None) == (name == "config.toml")
