"""Transcripts that strangers made or that were damaged: lines, or a ValueError; several processes lose none."""

import json
import subprocess
import sys

import fuzzing
import msgspec
import pytest
from garden_agents.text.transcripts import Line, Transcript, read

LINE = {
    "key": "k",
    "model": {"name": "m", "temperature": 0.5},
    "game_seed": 2**64 - 1,
    "seat": 1,
    "decision": 3,
    "attempt": 0,
    "messages": [{"role": "user", "content": "choose"}],
    "order": 5,
    "answer": "ACTION: 1",
    "reasoning": "",
    "finish": "stop",
    "outcome": "legal",
    "error": "",
    "action": "grow barrel",
    "fallback": False,
    "seconds": 0.5,
    "prompt_tokens": 10,
    "completion_tokens": None,
    "game": {"game": "cacti"},
    "allowed": 600.0,
}


def load(path):
    lines, _ = fuzzing.outcome(lambda: read(path), ValueError, names=path.name)
    for line in lines or ():
        assert min(line.seconds, line.allowed, line.seat, line.attempt, line.prompt_tokens or 0) >= 0
    return lines


def written(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@fuzzing.each_block
def test_changed_and_damaged_lines(numbers, tmp_path):
    path = tmp_path / "transcript.jsonl"
    assert fuzzing.load_changed(load, path, [LINE, LINE | {"key": "l"}], written, numbers)
    fuzzing.load_damaged(load, path, written([LINE] * 3), numbers)


def test_no_files(tmp_path):
    """A device, a pipe, a folder: refused at once, when the agent is made."""
    for path in fuzzing.special_paths(tmp_path):
        if path.name in ("missing", "loop", "nowhere", "y"):
            continue
        with pytest.raises((ValueError, OSError)) as raised, fuzzing.within(5):
            Transcript(path)
        fuzzing.check_message(raised.value)


WRITE = """
import sys
from pathlib import Path
import msgspec
from garden_agents.text.transcripts import Line, Transcript
line = msgspec.json.decode(sys.stdin.buffer.read(), type=Line)
transcript = Transcript(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    line.key = f"{sys.argv[2]}-{number}"
    line.answer = "x" * (number * 997 % 82_000)
    transcript.add(line)
"""


def test_several_processes_lose_no_line(tmp_path):
    path, each = tmp_path / "transcript.jsonl", 2500 if fuzzing.FULL else 200
    running = [
        subprocess.Popen([sys.executable, "-c", WRITE, path, str(number), str(each)], stdin=subprocess.PIPE)
        for number in range(4)
    ]
    for process in running:
        process.stdin.write(json.dumps(LINE).encode())
        process.stdin.close()
    assert [process.wait(300) for process in running] == [0] * 4
    keys = {line.key for line in read(path)}
    assert keys == {f"{process}-{number}" for process in range(4) for number in range(each)}


def test_a_killed_write_costs_its_own_line_only(tmp_path):
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(written([LINE]) + written([LINE | {"key": "torn"}])[:-9])
    Transcript(path).add(msgspec.convert(LINE | {"key": "next"}, Line))
    assert [line.key for line in read(path)] == ["k", "next"]
