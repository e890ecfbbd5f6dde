"""Datasets of games as Minari datasets: one seat's decisions in one game are an episode."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
import minari
import numpy as np
from gymnasium.envs.registration import EnvSpec
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_dataset import parse_dataset_id

from garden_core.checks import as_seat, short
from garden_core.files.dataset import Dataset, Decisions
from garden_core.game import Game
from garden_core.interfaces.common import spaces_of
from garden_core.interfaces.registration import gymnasium_id, register_environments
from garden_core.jit import loops
from garden_core.registry import game_class, list_games


def to_minari(
    dataset: Dataset, name: str, seat: int | None = None, agent: str | None = None, **about: Any
) -> minari.MinariDataset:
    """Write a dataset of games as a Minari dataset, and return that; without `seat` and `agent`, with every seat's episodes.

    An episode is what `garden_core.interfaces.gymnasium_env.Env` shows the learner of a game: T observations before its
    decisions and one at the end, T actions, and T rewards, which pay what it earned up to its next decision. A game cut
    at the cap is reported as terminated, too. `infos`, arrays of T + 1 entries, has `action_mask`, all ones at the end,
    `seat`, `capped` and `game`, the game's number in `dataset`: episodes of one game are not independent.

    Args:
        dataset: the games.
        name: of the new dataset, as Minari has them: "NAMESPACE/NAME-v0".
        seat: the only seat to take episodes of.
        agent: the only agent to take episodes of.
        **about: what else `minari.create_dataset_from_buffers` takes, such as `author`. The environment with which the
            episodes are recovered is this game with random opponents, unless its class is not installed, or its data is
            your own, which Minari cannot hold.

    Raises:
        ValueError: for a name that Minari does not allow or that is taken, a seat or an agent that there is not, or no
            episodes.
    """
    game = dataset.game
    chosen = np.ones(dataset.record.lineups.shape, np.bool_)
    if seat is not None:
        chosen[:] = np.arange(game.num_players) == as_seat(seat, game.num_players)
    if agent is not None:
        if agent not in dataset.agents:
            raise ValueError(f"agent must be one of {', '.join(dataset.agents)}, not {short(agent)}")
        chosen &= dataset.record.lineups == dataset.agents.index(agent)
    if not chosen.any():
        raise ValueError(f"{agent} has no seat {seat} in these games")
    parse_dataset_id(name)  # Minari itself looks too late, and leaves a folder that it cannot list
    if name in minari.list_local_datasets():
        raise ValueError(f"there is a Minari dataset {name!r} already")
    spec, (observations, actions) = _spec(game), spaces_of(game)
    metadata = {
        "env": spec,
        "eval_env": spec,
        "observation_space": observations,
        "action_space": actions,
        "algorithm_name": agent or ", ".join(dataset.agents),
        "description": f"Decisions of single seats in {len(dataset)} games of {game!r}.",
        "requirements": ["garden-envs"],
    }
    made = minari.create_dataset_from_buffers(name, [], **metadata | about)
    try:
        made.storage.update_episodes(_episodes(dataset, chosen))
    except BaseException:
        minari.delete_dataset(name)
        raise
    return minari.load_dataset(name)


def _spec(game: Game) -> EnvSpec | None:
    """Return what Gymnasium makes the learner's environment of, if plain JSON can say it."""
    if game.data or game.name not in list_games() or game_class(game.name) is not type(game):
        return None
    register_environments(type(game))
    spec = copy.deepcopy(gymnasium.spec(gymnasium_id(type(game))))
    spec.kwargs = {"game": game.name, **game.option_values}
    return spec


def _episodes(dataset: Dataset, chosen: np.ndarray) -> Iterator[EpisodeBuffer]:
    """Yield the episodes of the seats in `chosen`, bool (G, num_players), of those that had a decision to take."""
    for chunk in dataset.chunks(np.flatnonzero(chosen.any(axis=1))):
        games, starts = np.unique(chunk.game, return_index=True)
        ends = np.append(starts[1:], len(chunk.game))
        finals = dataset.final_states(games)
        for i, number in enumerate(games):
            for seat in np.flatnonzero(chosen[number]):
                rows = starts[i] + np.flatnonzero(chunk.player[starts[i] : ends[i]] == seat)
                if len(rows):
                    own = Decisions(*(array[rows] for array in chunk))
                    yield _episode(dataset.game, own, finals[i : i + 1])


def _episode(game: Game, own: Decisions, final: np.ndarray) -> EpisodeBuffer:
    """Return the episode of a seat's decisions in one game, and of the state record, (1,), in which it ended."""
    view = np.zeros((1, game.observation_size), np.int8)
    loops.observe_rows(final, game.params, own.player[:1], view)
    n = len(own.action)
    return EpisodeBuffer(
        observations=np.concatenate([own.observation, view.reshape(1, *game.observation_shape)]),
        actions=own.action,
        rewards=own.reward,
        terminations=own.last,
        truncations=np.zeros(n, np.bool_),
        infos={
            "action_mask": np.concatenate([own.action_mask, np.ones((1, game.num_actions), np.int8)]),
            "seat": np.append(own.player, own.player[0]),
            "capped": (np.arange(n + 1) == n) & (final["truncated"] != 0),
            "game": np.append(own.game, own.game[0]),
        },
    )
