"""Vector environments in which each game is one of several variants."""

import numpy as np
import pytest
from garden_agents.networks.variants import with_card_set

from cacti_env import Cacti
from garden_core import Replay
from garden_core.interfaces import VectorEnv
from mars_env import Mars

GAMES = {
    "mars": [Mars(num_players=n, max_decisions=60) for n in (2, 4)],
    "cacti": [Cacti(), *(with_card_set(Cacti(), seed) for seed in range(2))],
}


def first_actions(masks):
    return masks.argmax(1)


@pytest.mark.parametrize("name", GAMES)
def test_recorded_games_are_those_of_their_variants(name, tmp_path):
    """Each game in the folder replays with its own cards and options; infos say which variant it was."""
    games = GAMES[name]
    envs = VectorEnv(games, 6, opponents="greedy", autoreset_mode="SameStep", record=tmp_path)
    assert envs.single_observation_space.shape == games[0].observation_shape
    _, infos = envs.reset(seed=2)
    played, last = [], []
    while len(played) < 20:
        before = infos["variant"]
        _, _, terminated, _, infos = envs.step(first_actions(infos["action_mask"]))
        for row in np.flatnonzero(terminated):
            assert infos["final_info"]["variant"][row] == before[row]
            played.append(int(before[row]))
            last.append(envs.learner.batch.last_states[row].copy())
    replays = [Replay.load(path) for path in sorted(tmp_path.glob("*.json"))]
    assert {*played} == {*range(len(games))}
    for replay, variant, state in zip(replays[: len(played)], played, last, strict=True):
        assert replay.game.data_digest == games[variant].data_digest
        state["variant"] = 0
        assert [*replay.states()][-1].tobytes() == state.tobytes()


@pytest.mark.parametrize("name", GAMES)
def test_a_learner_meets_each_variant(name):
    """Rewards and seats of a finished game are those of its variant."""
    pytest.importorskip("stable_baselines3")
    from garden_core.interfaces import GardenVecEnv

    games = GAMES[name]
    env = GardenVecEnv(games, 8, opponents=["random", "greedy"], seed=1, render_mode="rgb_array")
    env.reset()
    met = set()
    for _ in range(150):
        variants = env.learner.batch.variant.copy()
        *_, dones, infos = env.step(first_actions(env.action_masks()))
        for row in np.flatnonzero(dones):
            assert infos[row]["variant"] == variants[row]
            assert infos[row]["seat"] < games[variants[row]].num_players
            met.add(infos[row]["variant"])
    assert met == {*range(len(games))}
    assert len(env.get_images()) == 8
    with pytest.raises(ValueError, match="variants"):
        _ = env.game
