"""Positions shown without NumPy, msgspec and compiled code, as on the static page, are the same as with them."""

import inspect
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from garden_agents import play
from garden_agents.play.static import _python_files, _zipped
from garden_agents.wasm.export import fields_of

from garden_core import RandomPolicy, kernels, make, record

CHILD = """
import json, sys
sys.path[:0] = [sys.argv[1]]
import stand_ins
stand_ins.install(sys.argv[1] + "/garden_core")
from importlib import import_module

def ask(**question):
    print(json.dumps(question), flush=True)
    return json.loads(sys.stdin.readline())

class Rules:
    legal = lambda self, content: ask(rules="legal", state=content.hex())
    apply = lambda self, content, action: bytes.fromhex(ask(rules="apply", state=content.hex(), action=action))
    resample = lambda self, content, seat, seed: bytes.fromhex(ask(rules="resample", state=content.hex(), seat=seat, seed=seed))
    count = lambda self, name, content: ask(rules="count", state=content.hex(), name=name)

task = json.loads(sys.stdin.readline())
game = getattr(import_module(task["module"]), task["class"])(**task["options"])
game.params = [stand_ins.State(task["params_record"], bytes.fromhex(task["params"]))]
for line in sys.stdin:
    asked = json.loads(line)
    state = stand_ins.State(task["state_record"], bytes.fromhex(asked["state"]), Rules())
    print(json.dumps({"answer": shown(game, state, asked["seat"], asked["last"])}), flush=True)
"""


def shown(game, state, seat, last):
    """Return all that people see of a position."""
    pictures = [
        game.svg(state, seat, legal=True, last=last, **look)
        for look in ({}, {"compact": True, "names": True, "dark": True})
    ]
    return [
        *pictures,
        game.text(state, seat),
        [game.describe(state, action) for action in game._legal_actions(state)],
        game.score_sheet(game.snapshot(state)),
        game.scores(state, seat),
        game.labels,
        [game.describe_to(state, action, 0) for action in game._legal_actions(state)[:1]],
    ]


class Child:
    """A process that shows positions with the stand-ins, and asks for the rules."""

    def __init__(self, game, folder):
        with zipfile.ZipFile(io.BytesIO(_zipped(_python_files([type(game)])))) as archive:
            archive.extractall(folder)
        self.game = game
        code = CHILD.replace("task = json", f"{inspect.getsource(shown)}\n\ntask = json", 1)
        self.process = subprocess.Popen(
            [sys.executable, "-IS", "-c", code, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.send(
            module=type(game).__module__,
            **{"class": type(game).__name__},
            options=game.option_values,
            params=game.params.tobytes().hex(),
            params_record=fields_of(game.params_dtype),
            state_record=fields_of(game.state_dtype),
        )

    def send(self, **message):
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def shown(self, state, seat, last):
        self.send(state=state.tobytes().hex(), seat=seat, last=last)
        while True:
            message = json.loads(self.process.stdout.readline())
            if "answer" in message:
                return message["answer"]
            print(json.dumps(self.rules(message)), file=self.process.stdin, flush=True)

    def rules(self, message):
        game, params = self.game, self.game.params[0]
        states = np.frombuffer(bytes.fromhex(message["state"]), game.state_dtype).copy()
        if message["rules"] == "legal":
            return game._legal_actions(states[0])
        if message["rules"] == "count":
            out = np.zeros(game.max_players, np.int32)
            getattr(kernels, message["name"])(states[0], params, out)
            return out.tolist()
        if message["rules"] == "apply":
            kernels.apply_action(states[0], params, message["action"])
        else:
            kernels.resample(states[0], params, message["seat"], message["seed"])
        return states.tobytes().hex()


LOCAL = """
import json, sys
from types import ModuleType
sys.path[:0] = [sys.argv[1]]
import stand_ins
stand_ins.install(sys.argv[1] + "/garden_core")
ffi = sys.modules["pyodide.ffi"] = ModuleType("pyodide.ffi")
sys.modules["pyodide"] = ModuleType("pyodide")
ffi.JsException, ffi.to_js = RuntimeError, None
import local
content = json.loads(sys.stdin.readline())
saved = {key: value for key, value in content.items() if key != "checksum"}
print(json.dumps([local.REPLAY, local.checksum(saved), [local.ended(state) for state in json.loads(sys.stdin.readline())], local.AGENTS]))
for seed in (2**64 - 1, 2**64, -1, True, "3"):
    try:
        print(local.as_seed(seed))
    except ValueError:
        print("refused")
"""


def test_the_page_without_a_server_writes_the_same_replays(tmp_path):
    replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], seed=3).content()
    with zipfile.ZipFile(io.BytesIO(_zipped(_python_files([])))) as archive:
        archive.extractall(tmp_path)
    states = [{"terminated": end == 1, "truncated": end == 2} for end in range(3)]
    given = f"{json.dumps(replay)}\n{json.dumps(states)}\n"
    command = [sys.executable, "-IS", "-c", LOCAL, str(tmp_path)]
    ran = subprocess.run(command, input=given, encoding="utf-8", capture_output=True, check=True)
    first, *seeds = ran.stdout.splitlines()
    format_, checksum, ended, agents = json.loads(first)
    assert (format_, checksum) == (replay["format"], replay["checksum"])
    assert ended == ["running", "terminated", "truncated"]
    assert seeds == [str(2**64 - 1), *["refused"] * 4]
    script = Path(play.__file__).with_name("page.js").read_text("utf-8")
    (levels,) = re.findall(r"^const LEVELS = \{(.*)\};$", script, re.MULTILINE)
    assert {name.strip('"') for name in re.findall(r'("[^"]+"|\w+): "', levels)} == set(agents)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mars", {}),
        ("mars", {"num_players": 3, "peaks": 2, "special_actions": True}),
        ("mars", {"gardeners": 2}),
        ("mars", {"cooperative": True, "num_players": 1}),
        ("cacti", {}),
        ("cacti", {"memory": "history"}),
        ("botanicus", {}),
        ("botanicus", {"num_players": 4}),
    ],
)
def test_positions_are_shown_the_same(name, options, tmp_path):
    game = make(name, **options)
    child = Child(game, tmp_path)
    decisions = list(
        record(game, [RandomPolicy(seat) for seat in range(game.num_players)], seed=3).decisions()
    )
    for number in {0, 1, 2, *range(5, len(decisions), 9), len(decisions) - 1}:
        state, last = decisions[number]
        for seat in (None, *range(game.num_players)):
            expected = json.loads(json.dumps(shown(game, state, seat, last)))
            assert child.shown(state, seat, last) == expected
    child.process.communicate()
    assert child.process.returncode == 0
