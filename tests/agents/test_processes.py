"""Trainings of several processes, which meet on a local address as torchrun lets them."""

import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from garden_agents.training.checkpoint import CHECKPOINT
from processes import environment, garden, garden_here
from small_runs import rows_of

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from garden_agents.training import ppo
from small_runs import tiny_ppo

class Kept(ppo.Training):
    def learn_from(self, source):
        super().learn_from(source)
        np.save(f"{sys.argv[1]}-{self.processes.rank}.npy", self.network.parameters)

ppo.Training = Kept
limits = {"minutes": float(sys.argv[2]) or None, "steps": 2000}
ppo.train(tiny_ppo(run=Path(sys.argv[1]), final_games=0, pool_share=0.5, seed=3, **limits))
"""


@pytest.fixture
def start():
    """A function that starts processes of one training with these words of a command line; they end with the test."""
    running = []

    def run(*words, count=2, **settings):
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        for rank in range(count):
            place = {"RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "localhost", "MASTER_PORT": port}
            env = environment(**{name: str(value) for name, value in place.items()})
            command = [sys.executable, *map(str, words)]
            running.append(subprocess.Popen(command, env=env, encoding="utf-8", **settings))
        return running[-count:]

    yield run
    for process in running:
        process.kill()
        process.communicate()


def test_all_processes_take_the_same_steps_and_repeat_them(start, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")

    def weights(name, count=2, minutes=0):
        for process in start(tmp_path / "script.py", tmp_path / name, minutes, count=count):
            assert process.wait(timeout=200) == 0
        return [np.load(tmp_path / f"{name}-{rank}.npy") for rank in range(count)]

    timed = weights("timed", minutes=0.02)
    np.testing.assert_array_equal(*timed)
    (first, second), (alone,) = weights("two"), weights("alone", count=1)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, weights("again")[0])
    assert abs(first - alone).max() > 0.001  # the second one's games count


@pytest.mark.parametrize(
    ("sent", "to", "said"),
    [(signal.SIGKILL, [1], "one of them ended"), (signal.SIGINT, [1, 0], "stopped at")],
    ids=["a process dies", "Ctrl-C"],
)
def test_a_training_that_ends_early_is_resumed_by_one_process(sent, to, said, start, tmp_path):
    folder, small = tmp_path / "run", "--envs 16 --channels 4 --hidden 16 --final-games 0 --evaluations 0"
    words = f"-m garden_agents train mars --steps 10_000_000 {small} --run {folder}".split()
    processes = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 200
    while not (folder / "metrics.csv").exists():
        assert [process.poll() for process in processes] == [None, None]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for rank in to:
        processes[rank].send_signal(sent)
    errors = processes[0].communicate(timeout=60)[1]
    assert processes[0].returncode == 1
    assert said in errors
    assert "Traceback" not in errors
    assert errors.rstrip().endswith(f"--resume {folder}")
    assert "Traceback" not in processes[1].communicate(timeout=60)[1]
    assert (folder / CHECKPOINT).is_file()
    before = int(rows_of(folder / "metrics.csv")[-1]["decisions"])
    garden("train --resume", folder, "--steps", before + 1)
    assert int(rows_of(folder / "metrics.csv")[-1]["decisions"]) > before


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("train mars --trainer sb3", "--trainer sb3"),
        ("train mars --device cuda", "--device cuda"),
        ("exploit mars", "garden exploit"),
    ],
)
def test_other_trainings_need_one_process(command, what, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert garden_here(command)[1] == f"{what} trains in one process: start it without torchrun"
