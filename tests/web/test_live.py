"""A training, watched on a page while it runs."""

import json
import subprocess
import sys

import pytest
from garden_agents.evaluation import live
from pages import get, running
from processes import environment, garden_here

FAST = "--steps 512 --envs 8 --rollout 16 --minibatch 64 --hidden 8 --eval-games 0 --threads 1 --panel-games 2 --evaluations 1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("torch")
    run = tmp_path_factory.mktemp("runs") / "cacti"
    assert garden_here("train", "cacti", "--run", run, "--panel", "random", *FAST.split())[1] is None
    return run


def url(port, path, token="secret"):
    return f"http://127.0.0.1:{port}{path}?token={token}"


def test_the_page_its_report_and_a_game(folder):
    with running(live.pages(folder, "secret", None, False, "127.0.0.1")) as port:
        assert "live.js" in get(url(port, "/"))[2]
        report = get(url(port, "/report"))
        assert "Evaluations during the training" in report[2]
        assert "'self'" not in report[1]["Content-Security-Policy"]
        assert 'id="replay"' in get(url(port, "/game"))[2]
        for path in ("/", "/state", "/report", "/game"):
            assert get(url(port, path, "wrong"))[0] == 403


def test_the_page_knows_when_files_change(folder, tmp_path):
    with running(live.pages(tmp_path, "secret", None, False, "127.0.0.1")) as port:
        before = json.loads(get(url(port, "/state"))[2])
        assert "No network" in before["words"]
        assert "nothing to show yet" in get(url(port, "/report"))[2]
        assert "nothing to show yet" in get(url(port, "/game"))[2]
        for path in folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        after = json.loads(get(url(port, "/state"))[2])
        assert after["files"] != before["files"]
        assert after["network"] != before["network"]


def test_the_page_ends_with_the_process_that_started_it(folder):
    words = [sys.executable, "-m", "garden_agents.evaluation.live", folder, "cacti"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, env=environment(), text=True, **pipes) as process:
        assert process.stdout.readline().startswith("watch the training at http://127.0.0.1:")
        assert process.poll() is None
        process.stdin.close()  # as the system does when a process ends
        assert process.wait(20) == 0


def test_a_training_serves_its_page(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    started = []
    monkeypatch.setattr(live, "watch", lambda *arguments: started.append(arguments))
    run = tmp_path / "run"
    garden_here("train", "cacti", "--run", run, "--panel", "random", *FAST.split(), "--web")
    assert started == [(run, "cacti")]
    assert "web" not in (run / "config.toml").read_text()
