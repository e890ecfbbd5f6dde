"""Trained networks: playing with them, and keeping them in files that hold no code.

A file is in the format safetensors: the weights, and as metadata a JSON text that says how the network is built,
which game it plays and where it comes from.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

import garden_core
from agents.loading import NETWORK, SUFFIX
from agents.networks import policy_for, sample
from garden_core.batch import Batch
from garden_core.files import write_atomically
from garden_core.game import Game

__all__ = ["FORESEEN", "NetworkAgent", "load", "new_policy", "save_network", "shipped"]

FORESEEN = ("outcome", "margin", "score")
_ALIASES = (
    "pi_features_extractor.",
    "vf_features_extractor.",
)  # Stable-Baselines3's other names of one module


class NetworkAgent:
    """A network as a policy for a batch; plays its most likely action, or draws with `sampled`.

    Attributes:
        config: how the network is built, and where it comes from; {} for one that is being trained.
        foresees: what its value is of, "outcome", "margin" or, in cooperative games, the team's "score".
    """

    def __init__(
        self, policy: Any, sampled: bool = False, seed: int = 0, config: dict[str, Any] | None = None
    ) -> None:
        self.policy = policy
        self.sampled = sampled
        self.config = config or {}
        self.foresees: str = self.config.get("foresees", "outcome")
        self._generator = torch.Generator().manual_seed(seed)
        policy.set_training_mode(False)

    @classmethod
    def load(cls, path: Path, game: Game, seed: int = 0, sampled: bool = False) -> NetworkAgent:
        """Load a network from its file, or from the folder of a run.

        Raises:
            ValueError: if there is no such file, it is broken, or it is of a network for another game, for other
                observations or actions, or for play against others where the game is cooperative, or the reverse.
        """
        path = path / NETWORK if path.is_dir() else path
        wanted = {
            "game": game.name, "cooperative": game.cooperative, "observation": list(game.observation_shape),
            "actions": game.num_actions,
        }  # fmt: skip
        try:
            with safe_open(path, "pt") as file:
                config = json.loads((file.metadata() or {})["config"])
            weights = load_file(path)
            found = {key: config[key] for key in wanted}
            if config["foresees"] not in FORESEEN:
                raise ValueError(f"it foresees {config['foresees']!r}")
            with torch.random.fork_rng(devices=[]):  # the first weights, soon replaced, are drawn
                policy = new_policy(game, config["network"]) if found == wanted else None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is no network of garden-envs: {error}") from None
        if policy is None:
            raise ValueError(f"{path} holds a network for {found}, but {game} needs {wanted}")
        shapes = {name: tuple(tensor.shape) for name, tensor in _own(policy.state_dict()).items()}
        wrong = {
            name
            for name in shapes | weights
            if name not in weights or tuple(weights[name].shape) != shapes.get(name)
        }
        if wrong:
            raise ValueError(f"{path} does not fit its own description: {', '.join(sorted(wrong))}")
        policy.load_state_dict(weights, strict=False)  # the aliases are not in the file
        return cls(policy, sampled, seed, config)

    @torch.inference_mode()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Choose an action, int64 (len(rows),), for the player to move in each of `rows`."""
        logits = self.policy.masked_logits(batch.observation[rows], batch.action_mask[rows])
        return (sample(logits, self._generator) if self.sampled else logits.argmax(1)).numpy()

    @torch.inference_mode()
    def judge(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, float32 (N, num_actions), and values for the player to move, float32 (N,), -1 to 1."""
        logits, values = self.policy.logits_and_values(torch.as_tensor(observation).float(), mask)
        if self.foresees == "score":  # as search sees it
            values = values / (1 + values.abs())
        return logits.softmax(1).numpy(), values[:, 0].clamp(-1, 1).numpy()

    def estimate(self, batch: Batch, row: int) -> str:
        """Return in words what the network thinks of a position: value and the three likeliest actions."""
        probabilities, values = self.judge(batch.observation[[row]], batch.action_mask[[row]])
        if batch.action_mask[row].sum() == 1:
            return "the only action"
        order = np.argsort(-probabilities[0], kind="stable")[:3]
        best = ", ".join(
            f"{batch.game.labels[a]} {probabilities[0, a]:.0%}" for a in order if probabilities[0, a] > 0
        )
        return f"value {values[0]:+.2f}; {best}"


def new_policy(game: Game, network: dict[str, Any]) -> Any:
    """Return an untrained network; `network` has the arguments of `policy_for`: kind, channels, hidden."""
    policy, arguments = policy_for(game, **network)
    observations = spaces.Box(-128, 127, game.observation_shape, np.int8)
    return policy(observations, spaces.Discrete(game.num_actions), lambda _: 0.0, **arguments)


def save_network(
    path: Path, game: Game, policy: Any, network: dict[str, Any], foresees: str, origin: dict[str, Any]
) -> None:
    """Write a network, whole or not at all.

    Args:
        foresees: one of FORESEEN, see `NetworkAgent`.
        origin: where it comes from (command, seed, versions, ...).

    Raises:
        ValueError: for another `foresees`.
        OSError: if the disk is full or the folder cannot be written.
    """
    if foresees not in FORESEEN:
        raise ValueError(f"foresees must be one of {', '.join(FORESEEN)}, not {foresees!r}")
    config = {
        "game": game.name, "cooperative": game.cooperative, "options": game.chosen, "observation": list(game.observation_shape),
        "actions": game.num_actions, "network": network, "foresees": foresees, "origin": origin,
    }  # fmt: skip
    weights = {name: tensor.contiguous() for name, tensor in _own(policy.state_dict()).items()}
    write_atomically(path, save(weights, {"config": json.dumps(config)}))


def _own(weights: dict[str, Any]) -> dict[str, Any]:
    return {name: tensor for name, tensor in weights.items() if not name.startswith(_ALIASES)}


def shipped(game: Game) -> dict[int, Path]:
    """Return the files of the networks that come with a game, by number of players."""
    folder = Path(inspect.getfile(type(game))).parent / "networks"
    return {int(path.stem): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def load(
    game: str | Game, num_players: int | None = None, seed: int = 0, sampled: bool = False
) -> NetworkAgent:
    """Return the trained agent that comes with a game.

    Args:
        game: its name, or the game itself.
        num_players: where the name is given; the game's default if None.
        seed, sampled: see `NetworkAgent`.

    Raises:
        ValueError: if none comes with the game for so many players.
    """
    if isinstance(game, str):
        game = garden_core.make(game, **({} if num_players is None else {"num_players": num_players}))
    files = shipped(game)
    if game.num_players not in files:
        known = ", ".join(map(str, files)) or "none"
        raise ValueError(f"no network comes with {game.name} for {game.num_players} players; known: {known}")
    return NetworkAgent.load(files[game.num_players], game, seed, sampled)
