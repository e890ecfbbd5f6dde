"""Training by PPO: what runs leave, how they are interrupted, resumed and refused."""

import functools
import json
import re
import shlex
import shutil
import signal
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
import torch
import tyro
from garden_agents import NetworkAgent, load_agent, score
from garden_agents.games import Hints
from garden_agents.networks.architecture import new_network
from garden_agents.networks.network_agent import shipped
from garden_agents.report.page import page
from garden_agents.training import ppo
from garden_agents.training.arguments import TRAINERS, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, save
from garden_agents.training.measures import measure_of
from garden_agents.training.run_folder import Interrupted, Run
from garden_agents.training.sb3 import Arguments, train
from own_agents import change_weights
from processes import garden_here, python, started
from safetensors.numpy import load_file
from small_runs import LEFT, SMALL, parameters_of, rows_of, score_of, tiny, tiny_ppo
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from garden_core import GreedyPolicy, RandomPolicy, Replay
from garden_core.files.disk import Lock
from mars_env import Mars

BY_NAME = {"sb3": (train, tiny), "ppo": (ppo.train, tiny_ppo)}
each_trainer = pytest.mark.parametrize("trainer", BY_NAME)


def trained(trainer, **changes):
    """The folder of a small run."""
    train, arguments = BY_NAME[trainer]
    return train(arguments(**changes))


@pytest.fixture(scope="module")
def run_by(tmp_path_factory):
    """A function that returns a trainer's finished small run."""
    return functools.cache(lambda trainer: trained(trainer, run=tmp_path_factory.mktemp("runs") / trainer))


@pytest.fixture
def small_run(run_by):
    """The one of sb3, of a thousand decisions."""
    return run_by("sb3")


def trained_on(trainer, folder, **limits):
    """Continue a run."""
    BY_NAME[trainer][0]({"sb3": Arguments, "ppo": ppo.Arguments}[trainer](resume=folder, **limits))


def small_network():
    return new_network(Mars(), SMALL, "outcome")


def run_in(folder, *opponents):
    """A run of Mars, whose evaluations are win rates if there are `opponents`."""
    run = Run(folder, tiny(run=folder), Mars())
    if opponents:
        run.measure = measure_of([Mars()], 6, 0, opponents, 1)
    return run


# --- training ---


@pytest.mark.quick
@each_trainer
def test_a_run_leaves_everything(trainer, run_by):
    folder = run_by(trainer)
    left = {path.name for path in folder.iterdir()}
    assert {name for name in left if "tfevents" not in name} == LEFT
    assert len(left) == len(LEFT) + 1
    config = tomllib.loads((folder / "config.toml").read_text("utf-8"))
    assert config["arguments"]["envs"] == 16
    assert config["game"]["options"]["num_players"] == 2
    assert config["measure"] == {"mars-2": "version 1"}
    assert Replay.load(folder / "game.json").ended in ("terminated", "truncated")
    found = score_of(folder)
    again = score(str(folder), "mars-2", games=24)
    assert (found["rating"], found["games"]) == (again.rating, again.games)
    assert found["against"] == json.loads(json.dumps(again.plain))["against"]
    evaluations = rows_of(folder / "evaluations.csv")
    assert list(evaluations[0]) == ["decisions", "seconds", "rating", "low", "high", "kept"]
    assert float(evaluations[-1]["decisions"]) > 0
    agent = load_agent(str(folder), Mars())
    assert agent.config["network"] == msgspec.to_builtins(SMALL)
    command = agent.config["origin"]["command"]
    assert command.startswith("garden train mars ")
    assert "--envs 16 " in command
    assert "--run" not in command
    assert "This training is finished." in page(folder, games=2)


def test_resume_goes_on(small_run, tmp_path):
    """After the end nothing is left to do; after a cut, what came after the last checkpoint is forgotten."""
    with pytest.raises(SystemExit, match="continue it with --resume"):
        train(tiny(run=small_run))
    folder = shutil.copytree(small_run, tmp_path / "run")
    before = rows_of(folder / "evaluations.csv")
    train(Arguments(resume=folder))
    assert rows_of(folder / "evaluations.csv") == before
    with (folder / "metrics.csv").open("a") as file:
        file.write(",".join(["1536", "999"] + ["0"] * 12) + "\n")
    train(Arguments(resume=folder, steps=2000))
    rows = rows_of(folder / "metrics.csv")
    assert [int(row["decisions"]) for row in rows] == [512, 1024, 1536, 2048]
    assert float(rows[1]["seconds"]) < float(rows[2]["seconds"]) < 900
    (folder / CHECKPOINT).unlink()
    with pytest.raises(SystemExit, match=r"no run to resume: checkpoint\.safetensors missing"):
        train(Arguments(resume=folder))


def test_kept_networks_are_spread_evenly_and_rewound(tmp_path):
    folder = train(tiny(run=tmp_path / "run", steps=2048, keep_checkpoints=2, final_games=0))
    kept = folder / "checkpoints"
    assert {path.name for path in kept.iterdir()} == {"1024.safetensors", "2048.safetensors"}
    agent = load_agent(str(kept / "1024.safetensors"), Mars())
    assert agent.config["origin"]["decisions"] == 1024
    (kept / "3000.safetensors").touch()  # as of a run that was killed before its next checkpoint
    train(Arguments(resume=folder))
    assert {path.name for path in kept.iterdir()} == {"1024.safetensors", "2048.safetensors"}


def test_an_interrupted_evaluation_does_not_count_as_training(tmp_path, monkeypatch):
    def interrupted(agent, on_finished):
        time.sleep(0.5)
        raise Interrupted

    run = run_in(tmp_path, "random")
    monkeypatch.setattr(run.measure, "measured", interrupted)
    run.begin()
    with pytest.raises(Interrupted):
        run.evaluate(small_network(), 1, "outcome")
    assert run.seconds < 0.5
    assert not run.past


@each_trainer
def test_a_run_of_another_version_of_the_game_is_not_resumed(trainer, run_by, tmp_path, monkeypatch):
    folder = shutil.copytree(run_by(trainer), tmp_path / "run")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(Mars, "version", 1)
    with pytest.raises(ValueError, match="it is of 'mars' version 0, not of 'mars' version 1"):
        trained(trainer, resume=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_checkpoints_of_other_options_or_with_nan_are_refused(tmp_path):
    path, network = tmp_path / CHECKPOINT, small_network()
    kept = path, Mars(), network.weights, torch.optim.Adam([torch.zeros(3)]), Progress(1, 1.0)
    save(*kept)
    check(path, Mars(reward="margin", max_decisions=50), network.shapes)
    with pytest.raises(ValueError, match=r"it is of mars with other options or data than Mars\(peaks=1\)"):
        check(path, Mars(peaks=1), network.shapes)
    before = path.read_bytes()
    network.parameters[:] = np.nan
    with pytest.raises(ValueError, match=r"not finite: network\."):
        save(*kept)
    assert path.read_bytes() == before


@pytest.mark.parametrize("separate", [True, False])
def test_the_command_can_be_given_again(separate, tmp_path):
    _, arguments, _, command = open_run(tiny(run=tmp_path, separate_values=separate))
    assert ("--separate-values" in command) == separate
    words = command.removeprefix("garden train ").replace(" --trainer sb3", "").split()
    again = tyro.cli(Arguments, args=[*words, "--run", str(tmp_path)], prog="garden train")
    assert again == arguments


UNTRAINED = {"steps": 0, "final_games": 0}


def test_training_begins_with_a_network(run_by, tmp_path):
    """It is in the pool from the first decision."""
    start = run_by("ppo") / "network.safetensors"
    folder = trained("ppo", run=tmp_path / "run", start=start, pool_share=1.0, **UNTRAINED)
    np.testing.assert_array_equal(*map(parameters_of, (folder, start)))
    checkpoint = load_file(folder / CHECKPOINT)
    for name, weights in NetworkAgent.load(start, Mars()).network.weights.items():
        np.testing.assert_array_equal(checkpoint[f"past.0.{name}"], weights)
    with pytest.raises(ValueError, match=r"has another architecture: to start from it, add --channels 4"):
        trained("ppo", run=tmp_path / "other", start=start, channels=8)
    assert not (tmp_path / "other").exists()


def test_training_begins_with_a_network_of_another_table(run_by, tmp_path):
    """With all weights but the value head's, which has other seats."""
    start = run_by("ppo") / "network.safetensors"
    folder = trained("ppo", run=tmp_path / "run", start=start, num_players=4, **UNTRAINED)
    weights = NetworkAgent.load(folder, Mars(num_players=4)).network.weights
    for name, initial in NetworkAgent.load(start, Mars()).network.weights.items():
        if "values" not in name:
            np.testing.assert_array_equal(weights[name], initial)


def test_training_by_time(tmp_path):
    folder = train(tiny(run=tmp_path / "run", steps=None, minutes=0.03, final_games=0))
    assert float(rows_of(folder / "evaluations.csv")[-1]["seconds"]) == pytest.approx(1.8, abs=1)


def test_a_network_to_start_from_is_not_trained_to_imitate_greedy_by_a_default(run_by, tmp_path, monkeypatch):
    """Random weights are, and a game's other defaults for them are not those of a start."""
    assert tomllib.loads((run_by("ppo") / "config.toml").read_text("utf-8"))["arguments"]["imitation"] == 0.3
    (tmp_path / "training.toml").write_text(
        "[ppo]\nimitation = 0.9\nlearning_rate = 0.1\nentropy = 0.5\n", "utf-8"
    )
    monkeypatch.setattr("garden_agents.training.arguments.hints_of", lambda game: Hints(folder=tmp_path))
    scratch = ppo.Arguments.for_game("mars")
    assert (scratch.imitation, scratch.learning_rate, scratch.entropy) == (0.9, 0.1, 0.5)
    start = {"start": tmp_path / "network.safetensors"}
    begun = ppo.Arguments.for_game("mars", **start)
    assert (begun.imitation_share, begun.learning_rates[0], begun.entropy) == (0, 5e-4, 0.5)
    assert ppo.Arguments.for_game("mars", **start, imitation=0.25).imitation_share == 0.25


RATES = {"sb3": (1e-3, 1e-4), "ppo": (2e-3, 1e-4)}


@each_trainer
def test_the_schedules_of_a_run_keep_the_length_that_it_started_with(trainer, run_by, tmp_path, capsys):
    """And thereafter their final values."""
    folder = shutil.copytree(run_by(trainer), tmp_path / "run")
    before = len(rows_of(folder / "metrics.csv"))
    config = (folder / "config.toml").read_text("utf-8")
    length = re.search(r"^steps = (\d+)$", config, re.MULTILINE)[0]
    config = config.replace(length, "steps = 4000").replace("imitation = 0.3", "imitation = 0.8")
    (folder / "config.toml").write_text(config, "utf-8")  # as if stopped early
    for steps, said in (
        (1500, "keep the length that it started with, 4,000 decisions"),
        (4500, "keep the length that it started with, 4,000 decisions"),
        (5500, "the schedules of this run have ended"),
    ):
        trained_on(trainer, folder, steps=steps)
        assert said in capsys.readouterr().out
    first, last = RATES[trainer]
    for row in rows_of(folder / "metrics.csv")[before:]:
        done = min(1, float(row["decisions"]) / 4000)
        assert float(row["learning_rate"]) == pytest.approx(first + (last - first) * done, abs=3e-4)
        imitation = max(0, 1 - done / 0.8)
        assert float(row.get("imitation", imitation)) == pytest.approx(imitation, abs=0.2)
        if float(row["decisions"]) > 5000:
            assert float(row["learning_rate"]) == last
            assert float(row.get("imitation", 0)) == 0
            assert float(row.get("outcome_share", row.get("first_place_share"))) == 1


TEAM = {"cooperative": "true"}


@pytest.mark.parametrize(
    ("trainer", "game", "num_players", "options"),
    [
        *(("sb3", "mars", 3, options) for options in ({}, TEAM)),
        ("ppo", "botanicus", None, {}),
        ("ppo", "mars", 4, {}),
        *(("ppo", "mars", n, TEAM) for n in (1, 3)),
    ],
    ids=str,
)
def test_training_for_any_game_and_table(trainer, game, num_players, options, tmp_path):
    capped = options | ({"max_decisions": "60"} if game == "mars" else {})
    few = {"steps": 512, "game": game, "num_players": num_players, "options": capped, "final_games": 0}
    folder = trained(trainer, run=tmp_path / "run", **few)
    assert (folder / "network.safetensors").is_file()
    evaluation = rows_of(folder / "evaluations.csv")[-1]
    rated = game == "botanicus"  # with other options than the defaults, Mars is in no task
    measured = (
        {"team"} if options else {"rating", "low", "high"} if rated else {"random", "greedy", "mcts:50"}
    )
    assert set(evaluation) == {"decisions", "seconds", "kept"} | measured


@pytest.mark.parametrize(("trainer", "pool"), [("sb3", {}), ("ppo", {"pool_share": 0.5})])
def test_same_seed_same_training(trainer, pool, tmp_path):
    folders = [trained(trainer, run=tmp_path / name, final_games=0, seed=3, **pool) for name in "ab"]
    one, other = map(parameters_of, folders)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.long
def test_training_learns_to_beat_random(tmp_path):
    folder = train(Arguments("mars", run=tmp_path / "run", steps=100_000, final_games=600))
    assert score_of(folder)["interval"][0] > 500


@pytest.mark.parametrize(
    ("trainer", "changes"),
    [
        ("sb3", {"hidden = 16": "hidden = 24"}),
        ("ppo", {"hidden = 16": "hidden = 24"}),
        ("ppo", {"pool_share = 0.0": "pool_share = 0.5", "pool_agents = []": 'pool_agents = ["greedy"]'}),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(trainer, changes, run_by, tmp_path):
    """Damaged ones are in tests/fuzz/test_fuzz_checkpoints.py."""
    folder = shutil.copytree(run_by(trainer), tmp_path / "run")
    config = (folder / "config.toml").read_text("utf-8")
    for old, new in changes.items():
        assert old in config
        config = config.replace(old, new)
    (folder / "config.toml").write_text(config, "utf-8")
    with pytest.raises(ValueError, match="is no checkpoint of this training: "):
        trained_on(trainer, folder, steps=3000)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize(
    ("words", "message"),
    [("chess", "error: "), ("mars --options reward margin", "training sets the option reward itself")],
)
def test_mistakes_on_the_command_line_take_one_line_and_leave_no_folder(trainer, words, message, tmp_path):
    _, said = garden_here(f"train {words} --trainer {trainer} --run", tmp_path / "run")
    assert said.startswith(message)
    assert "\n" not in said
    assert not (tmp_path / "run").exists()


def test_schedules_change_evenly(small_run):
    first, last = rows_of(small_run / "metrics.csv")
    for row, done in ((first, 0.5), (last, 1.0)):
        assert float(row["outcome_share"]) == pytest.approx(done)
        assert float(row["learning_rate"]) == pytest.approx(1e-3 - 9e-4 * done, abs=1e-5)
        assert float(row["entropy_weight"]) == pytest.approx(0.01 - 0.008 * done, abs=1e-5)


@pytest.mark.parametrize(
    ("make_arguments", "wrong", "message"),
    [
        (tiny, {"minutes": 0}, "minutes must be more than 0, not 0"),
        (tiny, {"network": "deep"}, "network must be"),
        (tiny, {"minibatches": 3}, "must be a multiple of minibatches"),
        (tiny, {"envs": 1, "rollout": 8, "minibatches": 8}, "twice as much or more"),
        (tiny_ppo, {"gae_lambda": 1.5}, "gae_lambda must be at most 1, not 1.5"),
        (tiny_ppo, {"pool_share": float("nan")}, "pool_share must be a finite number, not nan"),
        (tiny_ppo, {"device": "tpu"}, "device must be one of 'cpu', 'cuda', not 'tpu'"),
        (tiny_ppo, {"pool_agents": ("greedy",)}, "pool_agents are not drawn unless"),
    ],
)
def test_refuses_arguments_out_of_range(make_arguments, wrong, message):
    with pytest.raises(ValueError, match=message):
        make_arguments(**wrong)


SMALLEST = "--envs 16 --channels 4 --hidden 16 --threads 1 --final-games 0"
LONG_EVALUATION = "--evaluation-games 40000 --evaluations 200"


@pytest.mark.parametrize(
    ("number", "sign", "words"),
    [
        (signal.SIGTERM, "metrics.csv", "--steps 10_000_000"),
        (signal.SIGINT, "evaluating", f"--steps 100000 {LONG_EVALUATION}"),
    ],
    ids=["learning", "evaluating"],
)
def test_a_stopped_training_can_be_resumed(number, sign, words, tmp_path):
    """Also during an evaluation, which is announced."""
    folder, said = tmp_path / "run", tmp_path / "errors"
    with said.open("w") as errors:
        process = started(f"train mars {words} {SMALLEST} --run", folder, stderr=errors)
        deadline = time.monotonic() + 120
        while not ((folder / sign).exists() or "evaluating, " in said.read_text("utf-8")):
            assert process.poll() is None, said.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(timeout=60) == 1
    assert said.read_text("utf-8").rstrip().endswith(f"--resume {folder}")
    assert "Traceback" not in said.read_text("utf-8")
    assert (folder / CHECKPOINT).is_file()
    assert not (folder / "evaluations.csv").exists()


def test_runs_of_the_same_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda form: "20261201-120000")
    folders = [trained("ppo", seed=seed, **UNTRAINED) for seed in (1, 2)]
    assert [folder.name for folder in folders] == ["mars-20261201-120000", "mars-20261201-120000-2"]
    for folder, seed in zip(folders, (1, 2), strict=True):
        assert tomllib.loads((folder / "config.toml").read_text("utf-8"))["arguments"]["seed"] == seed


@each_trainer
def test_a_folder_in_use_is_refused(trainer, run_by, tmp_path):
    """By a new run and by one that is resumed."""
    other = run_in(tmp_path / "new", "random")
    with pytest.raises(ValueError, match="new is in use by another process"):
        trained(trainer, run=tmp_path / "new")
    other.close()
    folder = shutil.copytree(run_by(trainer), tmp_path / "run")
    before = (folder / "metrics.csv").read_text("utf-8")
    held = Lock(folder)
    with pytest.raises(ValueError, match="run is in use by another process"):
        trained_on(trainer, folder, steps=3000)
    assert (folder / "metrics.csv").read_text("utf-8") == before
    held.close()
    trained_on(trainer, folder)


def test_tensorboard_has_each_step_once_after_a_kill(run_by, tmp_path):
    folder = shutil.copytree(run_by("ppo"), tmp_path / "run")
    killed = SummaryWriter(str(folder))
    for step in (2000, 2500, 9000):  # after the last checkpoint
        killed.add_scalar("train/seconds", -1, step)
    killed.close()
    trained_on("ppo", folder, steps=3000)
    events = EventAccumulator(str(folder))
    events.Reload()
    for name, group, key in (("metrics", "train", "seconds"), ("evaluations", "evaluation", "rating")):
        steps = [event.step for event in events.Scalars(f"{group}/{key}")]
        assert steps == [int(float(row["decisions"])) for row in rows_of(folder / f"{name}.csv")]


@each_trainer
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the overflow
def test_a_training_that_diverges_stops_at_once(trainer, tmp_path):
    """With the last checkpoint, from which it can be continued."""
    folder = tmp_path / "run"
    many = {"run": folder, "final_games": 0, "evaluations": 0, "steps": 3000}
    with pytest.raises(ValueError, match=r"diverged: .* learning rate, \S+, is probably too high") as error:
        trained(trainer, learning_rate=1e12, checkpoint_every=10**9, **many)
    assert float(re.search(r"at ([\d,]+) decisions losses", str(error.value))[1].replace(",", "")) < 1000
    assert "The last checkpoint, at 0 decisions, is kept: " in str(error.value)
    config = (folder / "config.toml").read_text("utf-8")
    (folder / "config.toml").write_text(config.replace("1000000000000.0", "0.001"), "utf-8")
    trained_on(trainer, folder)
    assert np.isfinite(parameters_of(folder)).all()


# --- what runs keep ---


def test_a_change_of_an_opponent_is_reported(tmp_path, capsys):
    other = tmp_path / "other.safetensors"
    shutil.copy(shipped(Mars())[2], other)

    def resumed(decisions):
        run = run_in(tmp_path / "run", "random", str(other))
        run.rewind(decisions, 0.0)
        run.write_config()
        run.evaluate(small_network(), decisions + 1, "outcome")
        return capsys.readouterr().out

    assert not resumed(0)
    assert not resumed(1)
    change_weights(other, Mars())
    assert f"{other} changed since the evaluations of this run so far" in resumed(2)


def test_networks_are_compared_by_their_games(tmp_path, monkeypatch):
    run, said = run_in(tmp_path), []
    run.report = said.append
    assert not run._is_weaker(GreedyPolicy(), RandomPolicy())
    assert said[-1] == "comparing with the kept network, 50 of 400 games"  # it was clear by then
    assert run._is_weaker(RandomPolicy(), GreedyPolicy())
    network = NetworkAgent(small_network(), "outcome")
    assert not run._is_weaker(network, network)  # half of the games: the later one is kept
    assert said[-1].endswith("of 400 games")
    monkeypatch.setattr("garden_agents.training.run_folder.COMPARED_GAMES", 50)
    assert not run._is_weaker(network, network)  # nor if it is open after all games


@pytest.mark.parametrize("compared", [True, False])
def test_the_best_network_is_kept(tmp_path, monkeypatch, compared):
    """It is not weaker in games between networks; in best responses its mean rate is highest, the latest of equal ones."""
    run = run_in(tmp_path, "random", "greedy")
    monkeypatch.setattr(type(run.arguments), "compared", compared)
    weaker = iter([True, False, True])
    monkeypatch.setattr(run, "_is_weaker", lambda agent, kept: next(weaker))
    rates = zip([0.9, 0.9, 1.0, 0.8], [0.1, 0.3, 0.1, 0.4], strict=True)
    found = iter([dict(zip(("random", "greedy"), each, strict=True)) for each in rates])
    monkeypatch.setattr(run.measure, "measured", lambda agent, on_finished: next(found))
    kept = []
    for decisions in range(4):
        run.evaluate(small_network(), decisions, "outcome")
        kept.append(NetworkAgent.load(tmp_path, Mars()).config["origin"]["decisions"])
        assert float(rows_of(tmp_path / "evaluations.csv")[-1]["kept"]) == kept[-1]
    assert kept == ([0, 0, 2, 2] if compared else [0, 1, 1, 3])
    for decisions in (2, 0):
        run.close()
        run = run_in(tmp_path, "random", "greedy")
        run.rewind(decisions, 0.0)
        assert [row["greedy"] for row in run.past] == [0.1, 0.3, 0.1][: decisions + 1]
        assert len(rows_of(tmp_path / "evaluations.csv")) == decisions + 1


def test_training_in_a_thread(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        folder = executor.submit(ppo.train, tiny_ppo(run=tmp_path / "run")).result(300)
    assert (folder / CHECKPOINT).exists()


def test_a_disk_that_is_full_at_a_log_line_costs_no_decisions(tmp_path, monkeypatch):
    log, folder = Run.log, tmp_path / "my runs" / "it's $1"
    full = OSError(28, "No space left on device", "metrics.csv")

    def fail(self, row):
        if row["decisions"] > 500:
            raise full
        log(self, row)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "log", fail)
        with pytest.raises(OSError, match="No space") as raised:
            ppo.train(tiny_ppo(run=folder, checkpoint_every=10**6))
    (note,) = raised.value.__notes__
    command = note.partition("continue with: ")[2]
    assert shlex.split(command)[-2:] == ["--resume", str(folder)]
    ppo.train(ppo.Arguments(resume=folder))
    decisions = [float(row["decisions"]) for row in rows_of(folder / "metrics.csv")]
    assert decisions[0] < 500 < decisions[-1]


def test_no_part_of_a_line_stays_in_a_table(run_by, tmp_path):
    pytest.importorskip("resource")
    folder = shutil.copytree(run_by("ppo"), tmp_path / "run")
    before = (folder / "metrics.csv").read_bytes()
    code = f"""if True:
        import resource, types
        from pathlib import Path
        from garden_agents.training.run_folder import Run
        run = object.__new__(Run)
        run.folder, run._board = Path({str(folder)!r}), types.SimpleNamespace(add_scalar=lambda *_: None)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 20}, {len(before) + 20}))
        row = dict.fromkeys({[*rows_of(folder / "metrics.csv")[0]]!r}, 0.123456)
        try:
            run.log(row)
        except OSError:
            print("full")
    """
    assert python("-c", code).stdout == "full\n"
    assert (folder / "metrics.csv").read_bytes() == before


def test_an_unguarded_script_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    words = "Arguments('cacti', agents=('random', 'greedy'), games=4, processes=2)"
    script.write_text(f"from garden_agents.evaluation.arena import *\nmain({words})\n", "utf-8")
    done = python(script, check=False)
    assert "put what it does under `if __name__" in done.stderr
