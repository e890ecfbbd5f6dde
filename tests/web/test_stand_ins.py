"""Positions shown without NumPy and compiled code, as on the static page, are the same as with them."""

import base64
import inspect
import io
import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import fuzzing
import msgspec
import numpy as np
import pytest
from garden_agents import play
from garden_agents.play.static import _python_files, _zipped
from garden_agents.wasm.export import fields_of

from garden_core import RandomPolicy, Replay, kernels, make, record
from garden_core.files.formats import checksum

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


def unpack(folder, kinds):
    """Write the page's Python files into a folder, with msgspec for this machine."""
    with zipfile.ZipFile(io.BytesIO(_zipped(_python_files(kinds)))) as archive:
        archive.extractall(folder)
    shutil.copytree(Path(msgspec.__file__).parent, folder / "msgspec")


class Child:
    """A process that shows positions with the stand-ins, and asks for the rules."""

    def __init__(self, game, folder):
        unpack(folder, [type(game)])
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
    unpack(tmp_path, [])
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
        ("cacti", {"memory": "history", "cards_shown": "values"}),
        ("botanicus", {}),
        ("botanicus", {"num_players": 4, "cards_shown": "values"}),
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


PAGE = """
import asyncio, json, sys
from types import ModuleType, SimpleNamespace
sys.path[:0] = [sys.argv[1]]
import stand_ins
stand_ins.install(sys.argv[1] + "/garden_core")
ffi = sys.modules["pyodide.ffi"] = ModuleType("pyodide.ffi")
sys.modules["pyodide"] = ModuleType("pyodide")

class JsException(Exception):
    pass

class Js:
    to_py = lambda self: self.value
    to_bytes = lambda self: self.value
    def __init__(self, value):
        self.value = value

ffi.JsException, ffi.to_js = JsException, lambda value: value
import local

task, alive, seeds = json.loads(sys.stdin.readline()), set(), []

class Thing:
    def __init__(self):
        alive.add(self)
    def free(self):
        alive.remove(self)

class Game(Thing):
    kind = SimpleNamespace(state=Js(task["state_record"]))
    params = Js(bytes.fromhex(task["params"]))
    state = Js(bytes.fromhex(task["state"]))
    def __init__(self, options):
        if not set(options) <= set(task["options"]) or options.get("num_players", 2) != 2:
            raise JsException("Error: no such option")
        super().__init__()
        self.options = Js(task["options"] | options)
    def deal(self, seed):
        assert 0 <= seed < 2**64
    def legal(self):
        return Js([])
    def ofSeats(self, name):
        return Js([0, 0])
    def apply(self, action):
        raise JsException("Error: it is not legal")
    async def agent(self, name, seed):
        seeds.append(seed)
        if name == "network-mcts:77":
            raise JsException("Error: no network")
        return Thing()

async def load(name):
    return SimpleNamespace(description=SimpleNamespace(params=Js(task["params_record"])))

sent = []
tools = SimpleNamespace(load=load, make=lambda kind, options: Game(json.loads(options)), post=lambda text: sent.append(json.loads(text)), random=lambda: 2**64 - 1)
about = {"name": "cacti", "module": "cacti_env.game", "class": "Cacti", "max_players": 2, "rules": ""}
page = local.Page(tools, json.dumps([about]))
page.show = lambda: None  # positions are tested above
page._go_on = lambda: asyncio.sleep(0)
for line in sys.stdin:
    message, sent[:], seeds[:] = json.loads(line), [], []
    asyncio.run(page.handle(json.dumps(message)))
    print(json.dumps([[each["type"] for each in sent], [each.get("text", "") for each in sent], len(alive), seeds]), flush=True)
"""


class Worker:
    """The page's worker in plain Python, with games that deal but allow no action."""

    def __init__(self, folder):
        unpack(folder, [type(game := make("cacti"))])
        states = game.new_states(1)
        kernels.deal(states[0], game.params[0], np.uint64(1))
        command = [sys.executable, "-IS", "-c", PAGE, str(folder)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self.game = game
        task = {
            "state_record": fields_of(game.state_dtype),
            "params_record": fields_of(game.params_dtype),
            "params": game.params.tobytes().hex(),
            "state": states.tobytes().hex(),
            "options": {name: value for name, value in game.option_values.items() if value != ""},
        }
        print(json.dumps(task), file=self.process.stdin, flush=True)
        self.ask(type="open", link="")

    def ask(self, **message):
        """Return the types and texts of the answers, the number of objects in JavaScript that are alive, and agents' seeds."""
        print(json.dumps(message), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, f"{message} ended the worker"
        return json.loads(line)

    def saved(self, **changes):
        """The text of a saved game that an agent continues, with changes and their checksum."""
        content = Replay.of(self.game, 3, []).content() | changes
        content = {key: value for key, value in content.items() if key != "checksum"}
        return json.dumps(content | {"checksum": checksum(content)})

    def new(self, **changes):
        plain = {"game": "cacti", "options": {}, "seats": ["human", "greedy"], "seed": None, "replay": None}
        return self.ask(type="new", **plain | changes)

    def close(self):
        self.process.communicate()


@pytest.fixture
def worker(tmp_path):
    made = Worker(tmp_path)
    yield made
    made.close()


def link(content):
    """The end of an address."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(zlib.compress(text)).decode().rstrip("=")


def test_refused_games_give_their_memory_back(worker):
    alive = worker.new()[2]
    seats = ["human", "network-mcts:77"]
    for message in (
        {"replay": worker.saved(actions=["grow barrel"])},
        {"replay": worker.saved(scores=[99, 0])},
        {"seats": seats},
        {"options": {"nothing": 1}},
    ):
        types, _, now, _ = worker.new(**message)
        assert (types, now) == (["error"], alive)
    answers = worker.ask(type="open", link=link(["cacti", {}, 1, ["human", "greedy"], [1]]))
    assert (answers[0], answers[2]) == (["welcome", "error"], alive)


def test_agents_draw_by_the_games_seed(worker):
    assert worker.ask(type="open", link=link(["cacti", {}, 2**60 + 1, ["random", "greedy"], []]))[3] == [
        2**60 + 1,
        2**60 + 2,
    ]


def test_only_built_in_agents_within_limits(worker):
    for name in ("mcts:99999", "program:touch x", "module:attribute", None, 3, ["greedy"]):
        types, _, _, seeds = worker.ask(type="open", link=link(["cacti", {}, 1, ["human", name], []]))
        assert (types, len(seeds)) == (["welcome", "error"], 1)  # the usual game


@pytest.mark.parametrize(
    "text", [b'["]]]]]]]]]]]]", ' + b"[" * 5000, b'["\\"]]]]]]]]]]]]", ' + b"[" * 5000, b"]]]]" + b"[" * 5000]
)
def test_brackets_inside_of_strings_do_not_count(worker, text):
    assert worker.ask(type="open", link=link(text))[0] == ["welcome", "error"]
    assert worker.new(replay=text.decode())[0] == ["error"]


@fuzzing.each_block
def test_links_and_saved_games_of_strangers(numbers, worker):
    good = json.loads(worker.saved())
    alive = worker.new()[2]
    for number in numbers:
        rng = random.Random(number)
        entry = fuzzing.mutated(["cacti", {"memory": "history"}, 3, ["human", "mcts:5"], []], rng)
        packed = link(entry if rng.random() < 0.7 else fuzzing.damaged(json.dumps(entry).encode(), rng))
        packed = packed if rng.random() < 0.8 else fuzzing.damaged(packed.encode(), rng).decode("latin-1")
        types, _, now, _ = worker.ask(type="open", link=packed)
        assert types in (["welcome"], ["welcome", "error"])
        assert now <= alive + 1  # two agents in place of one
        changed = fuzzing.mutated(good, rng)
        if isinstance(changed, dict):
            changed.pop("checksum", None)
            changed["checksum"] = checksum(changed) if rng.random() < 0.9 else ""
        types, texts, now, _ = worker.new(replay=json.dumps(changed))
        assert types in (["welcome"], ["error"])
        assert all(len(text) < 400 for text in texts)
        assert now <= alive + 1
