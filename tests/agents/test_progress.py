"""Progress of commands: off a terminal few plain lines, each once."""

import io
import sys

from garden_agents import progress
from processes import garden


def test_plain_lines_at_most_every_ten_seconds(monkeypatch):
    now, written = [0.0], io.StringIO()
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", written)
    with progress.progress_bar(unit="decision", desc="compiling", mininterval=0) as bar:
        bar.reset(100)
        for second in range(1, 26):
            now[0] = float(second)
            bar.set_description("training")
            bar.update(4)
            bar.set_postfix_str("random 50%")
    lines = written.getvalue().split("\n")
    assert [line.split("[")[0] for line in lines] == [
        "compiling: 0decision ",
        "training:  36% 36/100 ",
        "training:  76% 76/100 ",
        "training: 100% 100/100 ",
        "",
    ]
    assert "random 50%" in lines[-2]


def test_a_terminal_has_a_bar(monkeypatch):
    written = io.StringIO()
    written.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", written)
    with progress.progress_bar(total=2, unit="game") as bar:
        bar.update(2)
    assert "\r" in written.getvalue()


def test_a_command_off_a_terminal(tmp_path):
    words = "record cacti --agents random --games 20 --processes 1 --output"
    lines = garden(words, tmp_path / "games.safetensors").stderr.splitlines()
    assert [line.split(" [")[0] for line in lines] == ["0% 0/20", "100% 20/20"]
