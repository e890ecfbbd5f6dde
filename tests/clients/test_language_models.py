"""The examples for libraries of language models, each in its environment (`make test-clients` installs both)."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from scripted_endpoint import ScriptedEndpoint

from garden_core import list_games

ROOT = Path(__file__).parents[2]
OPENENV, VERIFIERS = ROOT / ".venv-openenv" / "bin", ROOT / ".venv-verifiers" / "bin"
CLIENT = """
import sys
from garden import GardenAction, GardenEnv
with GardenEnv(base_url=sys.argv[1]).sync() as env:
    for game in sys.argv[2:]:
        step = env.reset(seed=1, game=game, opponent="random", retries=0)
        while not step.done:
            assert step.observation.messages[-1]["role"] == "user"
            step = env.step(GardenAction(text="ACTION: 1"))
        print(game, step.reward, step.observation.result)
    env.reset(seed=1, game="cacti", opponent="random", retries=0)
    print(env.step(GardenAction(text="no")).reward)
"""
HOSTILE = """
import asyncio, json, sys, time, urllib.request
import websockets

url, mark = sys.argv[1:]
requests = [
    {"opponent": f"program:touch {mark}"},
    {"opponent": "os:system"},
    {"opponent": None},
    {"opponent": "mcts:3000000"},
    {"opponent": mark},
    {"game": "os:system"},
    {"game": "antigravity:Game"},
    {"options": {"cards": "/etc/passwd"}},
    {"options": [1]},
    {"retries": 10**6},
    {"nothing": 1},
    {"seat": "x"},
]

async def ask(socket, **message):
    await socket.send(json.dumps(message))
    return json.loads(await socket.recv())

def posted(request, **headers):
    asked = urllib.request.Request(f"http://{url}/reset", json.dumps(request).encode(), {"Content-Type": "application/json", **headers})
    try:
        return urllib.request.urlopen(asked, timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code

async def main():
    plain = {"game": "cacti", "opponent": "random", "seat": 1}
    async with websockets.connect(f"ws://{url}/ws") as one, websockets.connect(f"ws://{url}/ws") as other:
        for request in requests:
            answer = await ask(one, type="reset", data=plain | request)
            assert answer["type"] == "error" and "root:" not in json.dumps(answer), answer
            assert await asyncio.to_thread(posted, plain | request) >= 400
        answer = await ask(other, type="reset", data=plain)
        assert answer["type"] == "observation"
        await ask(one, type="reset", data=plain | {"opponent": "mcts:10"})  # compiles
        search, waits = asyncio.create_task(ask(one, type="reset", data=plain | {"opponent": "mcts:9999"})), []
        while not search.done():
            began = time.monotonic()
            await ask(other, type="reset", data=plain)
            waits.append(time.monotonic() - began)
        assert (await search)["type"] == "observation"
        assert len(waits) > 1, waits
    try:
        async with websockets.connect(f"ws://{url}/ws", origin="http://evil.example"):
            raise AssertionError("a foreign origin was let in")
    except websockets.InvalidStatus:
        pass
    assert posted(plain, Origin="http://evil.example") == 403
    assert posted(plain, Host="evil.example") == 400
    assert posted(plain) == 200

asyncio.run(main())
"""


def ran(*command, **settings):
    """Run a command and return what it printed."""
    done = subprocess.run(
        [*map(str, command)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        **settings,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def free_port():
    """Return a port that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def wait_for(url):
    """Wait until a server answers."""
    for _ in range(240):
        try:
            urllib.request.urlopen(url).close()
            return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(url)


FORFEIT = """
import os, sys
os.environ["GARDEN_OPPONENT"] = "own_agents:quitting_all"
sys.path[:0] = sys.argv[1:]
from server.environment import GardenEnvironment
seen = GardenEnvironment().reset(seed=1, game="cacti", seat=1)
print(seen.done, seen.reward)
"""


def test_openenv_pays_for_an_opponent_that_forfeits_at_once():
    paths = ROOT / "examples" / "openenv", ROOT / "tests" / "tools"
    assert ran(OPENENV / "python", "-c", FORFEIT, *paths) == "True 1.0\n"


def test_openenv_validates_the_package():
    assert "PASS  static.manifest" in ran(OPENENV / "openenv", "validate", "examples/openenv")


def test_openenv_serves_every_game_and_no_stranger_runs_code(tmp_path):
    port = free_port()
    command = [OPENENV / "python", "-m", "server.app", "--port", str(port)]
    folder = ROOT / "examples" / "openenv"
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/health")
            report = ran(OPENENV / "openenv", "validate", "--url", url)
            assert "Verdict: PASS" in report
            *games, wrong = ran(OPENENV / "python", "-c", CLIENT, url, *list_games()).splitlines()
            ran(OPENENV / "python", "-c", HOSTILE, url.removeprefix("http://"), tmp_path / "mark")
            assert not (tmp_path / "mark").exists()
        finally:
            server.terminate()
    assert [line.split()[0] for line in games] == list_games()
    assert all("The game is over. Scores: " in line for line in games)
    assert wrong == "-1.0"


@pytest.mark.parametrize("game", list_games())
def test_verifiers_validates_every_game(game, tmp_path):
    which = ["--taskset.game", game, "--select.limit", "1", "--runtime.type", "subprocess"]
    printed = ran(VERIFIERS / "vf-validate", "garden-verifiers", *which, "-o", tmp_path)
    assert json.loads(printed[printed.index("{") :])["valid_rate"] == 1


def test_verifiers_evaluates_a_model(tmp_path):
    with ScriptedEndpoint() as endpoint:
        ran(
            *(VERIFIERS / "vf-eval", "garden-verifiers", "-m", "scripted", "-n", "2", "-o", tmp_path),
            *("--env.taskset.game", "cacti", "--env.taskset.opponent", "random"),
            *("--client.base-url", endpoint.url, "--client.api-key-var", "KEY", "--no-push", "--no-rich"),
            env={**os.environ, "KEY": "none"},
        )
        first = endpoint.requests[0]["messages"]
    (path,) = tmp_path.rglob("traces.jsonl")
    traces = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(traces) == 2
    assert [message["role"] for message in first] == ["system", "user"]
    assert all("The game is over" in json.dumps(trace) for trace in traces)


def test_two_models_play_each_other_with_verifiers(tmp_path):
    with ScriptedEndpoint() as endpoint:
        ran(
            *(VERIFIERS / "vf-eval", "garden-verifiers", "-m", "scripted", "-n", "1", "-o", tmp_path),
            *("--env.taskset.game", "cacti", "--env.taskset.opponent", "model"),
            *("--client.base-url", endpoint.url, "--client.api-key-var", "KEY", "--no-push", "--no-rich"),
            env={**os.environ, "KEY": "none"},
        )
        systems = {request["messages"][0]["content"][:16] for request in endpoint.requests}
    (path,) = tmp_path.rglob("traces.jsonl")
    episodes = map(json.loads, path.read_text("utf-8").splitlines())
    infos = [trace["info"] for episode in episodes for trace in episode["traces"]]
    assert systems == {"You are player_0", "You are player_1"}
    assert sorted(info["seat"] for info in infos) == [0, 1]
    assert sum(info["reward"] for info in infos) == 0
    assert all(info["outcomes"]["legal"] == sum(info["outcomes"].values()) > 5 for info in infos)
