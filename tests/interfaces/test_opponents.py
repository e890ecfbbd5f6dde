"""Opponents by name, and what is said of policies that answer wrongly."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from cacti_env import Cacti
from garden_core import Batch
from garden_core.files.replay import record


@pytest.mark.parametrize("name", ["mcts:4", "network", "own_agents:first_legal", "run"])
def test_any_agent_by_name_is_an_opponent(name, tmp_path):
    pytest.importorskip("sb3_contrib")
    import gymnasium
    from garden_agents.networks.network_agent import shipped

    from garden_core.interfaces.gymnasium_env import VectorEnv
    from garden_core.interfaces.sb3 import GardenVecEnv

    if name == "run":
        shutil.copy(shipped(Cacti())[2], tmp_path / "network.safetensors")
        name = str(tmp_path)
    env = gymnasium.make("garden/Cacti-v0", opponents=name)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    for vector in (
        VectorEnv("cacti", num_envs=3, opponents=["random", name]),
        GardenVecEnv("cacti", 3, name),
    ):
        vector.reset()
        for _ in range(3):
            vector.step(vector.action_masks().argmax(1))


def test_without_the_agents_the_message_says_what_to_install(monkeypatch):
    import gymnasium

    from garden_core import plugins

    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match=r"no agent 'network': .*pip install --editable \."):
        gymnasium.make("garden/Cacti-v0", opponents="network")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="no agent 'grandmaster': unknown agent") as raised:
        gymnasium.make("garden/Cacti-v0", opponents="grandmaster")
    assert "pip install" not in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda batch, rows: [], r"shape \(\d,\), one for each row, not \(0,\)"),
        (lambda batch, rows: batch.action_mask[rows].argmax(1)[:-1], "one for each row"),
        (
            lambda batch, rows: batch.action_mask[rows].argmax(1).astype(float),
            "must be integers, not float64",
        ),
        (lambda batch, rows: np.ones(len(rows), bool), "must be integers, not bool"),
        (lambda batch, rows: 0, r"one for each row, not \(\)"),
        (lambda batch, rows: batch.action_mask[rows].argmax(1)[:, None], "one for each row"),
        (lambda batch, rows: None, "one for each row"),
        (lambda batch, rows: ["grow barrel"] * len(rows), "must be integers, not <U"),
        (lambda batch, rows: [[0], [0, 0]], "inhomogeneous"),
        (lambda batch, rows: batch.action_mask[rows].argmin(1), "is illegal"),
        (lambda batch, rows: np.full(len(rows), 10**6), "does not exist"),
    ],
)
def test_wrong_answers_of_policies_are_named_and_change_nothing(answer, words):
    from garden_agents.evaluation.matches import alone, play

    from garden_core.batch.learner import Learner

    class Wrong:
        """Answers rightly until a test makes it answer otherwise."""

        right = True

        def __call__(self, batch, rows):
            return batch.action_mask[rows].argmax(1) if self.right else answer(batch, rows)

    policy = Wrong()
    learner = Learner(Cacti(), 4, [policy], seat=0)
    learner.reset(2)
    before = {
        n: a.copy() for o in (learner, learner.batch) for n, a in vars(o).items() if isinstance(a, np.ndarray)
    }
    policy.right = False
    actions = learner.action_mask.argmax(1)
    with pytest.raises(ValueError, match=rf"opponent 0 \(.*Wrong\): .*{words}"):
        learner.step(actions)
    after = {n: a for o in (learner, learner.batch) for n, a in vars(o).items() if isinstance(a, np.ndarray)}
    for name, value in before.items():
        assert value.tobytes() == after[name].tobytes(), name
    policy.right = True
    learner.step(actions)
    policy.right = False
    for played in (
        lambda: play(Cacti(), [policy, policy], alone(4, 2)),
        lambda: record(Cacti(), [policy, policy]),
    ):
        with pytest.raises(ValueError, match=rf"Wrong: .*{words}"):
            played()


def test_a_batch_takes_a_games_name():
    assert Batch("cacti", 2).game == Cacti()
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        Batch("chess", 2)
