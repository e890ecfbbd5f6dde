"""Conversion to Minari datasets; an episode is one seat's decisions in one game."""

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

from garden_core.checks import as_seat, check_choice
from garden_core.game import Game
from garden_core.interfaces.common import spaces_of
from garden_core.interfaces.registration import gymnasium_id, register_environments
from garden_core.jit import loops
from garden_core.recorded.dataset import Dataset
from garden_core.recorded.decisions import Decisions
from garden_core.registry import game_class, list_games


def to_minari(
    dataset: Dataset, name: str, seat: int | None = None, agent: str | None = None, **about: Any
) -> minari.MinariDataset:
    """Write a dataset of games as a Minari dataset and return it; by default with the episodes of all seats.

    An episode is a game as in `garden_core.interfaces.gymnasium_env.Env`: T observations before the seat's decisions and one
    at the end, T actions, and T rewards, each the sum up to the next decision. A game cut at the cap is terminated, too.
    `infos`, arrays of T + 1 entries, contains `action_mask`, all ones at the end, `seat`, `capped` and `game`, the game's
    number in `dataset`: episodes of one game are not independent. If the dataset has probabilities, `infos` contains
    `probability`, NaN where unknown and at the end.

    Args:
        dataset: the games.
        name: name of the new dataset in Minari's form, "NAMESPACE/NAME-v0".
        seat: only write episodes of this seat.
        agent: only write episodes of this agent.
        **about: other arguments of `minari.create_dataset_from_buffers`, such as `author`. The environment to recover is
            this game with random opponents; None if its class is not installed or it has a custom data file, which
            Minari cannot store.

    Raises:
        ValueError: for a name that Minari does not allow or that exists, an unknown seat or agent, or no episodes.

    Example:
        >>> from garden_core import Dataset
        >>> from garden_core.interfaces import to_minari
        >>> dataset = Dataset.load("games.safetensors")  # written by `garden record`
        >>> to_minari(dataset, "garden/cacti-v0").total_episodes
        40
    """
    game = dataset.game
    chosen = np.ones(dataset.record.lineups.shape, np.bool_)
    if seat is not None:
        chosen[:] = np.arange(game.num_players) == as_seat(seat, game.num_players)
    if agent is not None:
        check_choice(agent, "agent", dataset.agents)
        chosen &= dataset.record.lineups == dataset.agents.index(agent)
    if not chosen.any():
        raise ValueError(f"{agent} has no seat {seat} in these games")
    parse_dataset_id(name)  # Minari checks too late, and leaves a folder that it cannot list
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
    """Return the Gymnasium spec of the learner's environment; None if it cannot be written as plain JSON."""
    if game.data or game.name not in list_games() or game_class(game.name) is not type(game):
        return None
    register_environments(type(game))
    spec = copy.deepcopy(gymnasium.spec(gymnasium_id(type(game))))
    spec.kwargs = {"game": game.name, **game.option_values}
    return spec


def _episodes(dataset: Dataset, chosen: np.ndarray) -> Iterator[EpisodeBuffer]:
    """Yield the episodes of the seats in `chosen`, bool (G, num_players), that have at least one decision."""
    for chunk in dataset.chunks(np.flatnonzero(chosen.any(axis=1))):
        games, starts = np.unique(chunk.game, return_index=True)
        ends = np.append(starts[1:], len(chunk.game))
        finals = dataset.final_states(games)
        for i, number in enumerate(games):
            for seat in np.flatnonzero(chosen[number]):
                rows = starts[i] + np.flatnonzero(chunk.player[starts[i] : ends[i]] == seat)
                if len(rows):
                    decisions = Decisions(*(array[rows] for array in chunk))
                    episode = _episode(dataset.game, decisions, finals[i : i + 1])
                    if dataset.record.probabilities is not None:
                        episode.infos["probability"] = np.append(decisions.probability, np.float32(np.nan))
                    yield episode


def _episode(game: Game, decisions: Decisions, final: np.ndarray) -> EpisodeBuffer:
    """Return the episode of a seat's decisions in one game with the final state record `final`, (1,)."""
    view = np.zeros((1, game.observation_size), np.int8)
    loops.observe_rows(final, game.params, decisions.player[:1], view)
    n = len(decisions.action)
    return EpisodeBuffer(
        observations=np.concatenate([decisions.observation, view.reshape(1, *game.observation_shape)]),
        actions=decisions.action,
        rewards=decisions.reward,
        terminations=decisions.last,
        truncations=np.zeros(n, np.bool_),
        infos={
            "action_mask": np.vstack([decisions.action_mask, np.ones(game.num_actions, np.int8)]),
            "seat": np.full(n + 1, decisions.player[0]),
            "capped": (np.arange(n + 1) == n) & (final["truncated"] != 0),
            "game": np.full(n + 1, decisions.game[0]),
        },
    )
