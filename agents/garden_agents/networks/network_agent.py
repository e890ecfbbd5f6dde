"""Trained networks as agents, and their files.

A network's file has the format safetensors, which holds no code: the weights, and as metadata a JSON description of
the architecture, the game and the training that made it.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import torch
from gymnasium import spaces

from garden_agents.networks import NETWORK, SUFFIX
from garden_agents.networks.files import check_weights, load_weights, read, weights_of, write
from garden_agents.networks.policies import policy_for, sample
from garden_core.batch import Batch
from garden_core.checks import as_seed, one_line, short
from garden_core.files import is_folder
from garden_core.game import Game
from garden_core.registry import make

__all__ = [
    "VALUE_TARGETS",
    "WIDEST",
    "NetworkAgent",
    "empty_policy",
    "load",
    "new_policy",
    "save_network",
    "shipped",
]

VALUE_TARGETS = ("outcome", "margin", "score")
"""What a value head can predict: the outcome, the margin, or in cooperative games the team's score."""
NOT_COMPARED = ("reward", "max_decisions")
"""Options that may differ from those of the training, as a network does not depend on them."""

WIDEST = 16_384
"""Largest number of channels, and largest width of a hidden layer."""
Width = Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]


class _Architecture(msgspec.Struct, forbid_unknown_fields=True):
    """A network's architecture: the arguments of `garden_agents.networks.policies.policy_for`."""

    kind: Literal["auto", "board", "flat"]
    channels: Width
    hidden: Width


class _Description(msgspec.Struct):
    """The metadata of a network's file."""

    game: str
    cooperative: bool
    observation: list[int]
    actions: int
    options: dict[str, bool | int | str]
    network: _Architecture
    value_target: Literal["outcome", "margin", "score"]
    origin: dict[str, Any] = {}
    tables: str = ""  # the game's `tables_digest`; older files have none


class NetworkAgent:
    """A network as a policy for a batch.

    Args:
        policy: the network, as `new_policy` returns it.
        sampled: draw actions by their probabilities; without it the most likely action is played.
        seed: seed of these draws.
        config: metadata of the network's file; None for a network that has none yet.

    Attributes:
        config: metadata of the network's file; {} for a network that is being trained.
        value_target: what its value head predicts, one of VALUE_TARGETS.
    """

    def __init__(
        self, policy: Any, sampled: bool = False, seed: int = 0, config: dict[str, Any] | None = None
    ) -> None:
        self.policy = policy
        self.sampled = sampled
        self.config = config or {}
        self.value_target: str = self.config.get("value_target", "outcome")
        self._generator = torch.Generator().manual_seed(seed)
        policy.set_training_mode(False)

    @classmethod
    def load(
        cls, path: Path, game: Game, seed: int = 0, sampled: bool = False, allow_other_options: bool = False
    ) -> NetworkAgent:
        """Load a network from its file, or from the folder of a run.

        Args:
            path: the file or folder.
            game: the game that the network is to play.
            seed, sampled: see the class.
            allow_other_options: accept a network that was trained with another number of players, other options or
                other data, if its observations and actions have the same shapes. It may play badly.

        Raises:
            ValueError: if the file is missing, damaged or has weights that are not finite, or its network was made
                for another game, other observations or actions, other options or data, or for the cooperative
                variant where this game is not (or the reverse).
        """
        path = path / NETWORK if is_folder(path) else path
        try:
            weights, made, config = read(path, "config", _Description)
            _check_widths(made.network, weights)
        except ValueError as error:
            raise ValueError(f"{path} is no network of garden-envs: {error}") from None
        wanted = _interface(game)
        found = {key: getattr(made, key) for key in wanted}
        if found != wanted:
            raise ValueError(f"{path} holds a network for {one_line(found)}, but {game} needs {wanted}")
        if not allow_other_options:
            _check_options(path, made, game)
        try:
            policy = empty_policy(game, msgspec.to_builtins(made.network))
            check_weights(weights, weights_of(policy))
            load_weights(policy.to_empty(device="cpu"), weights)
        except ValueError as error:
            raise ValueError(f"{path} cannot be used: {error}") from None
        return cls(policy, sampled, int(as_seed(seed)), config)

    @torch.inference_mode()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError: if the weights are so large that the logits are not finite.
        """
        logits = _finite(self.policy.masked_logits(batch.observation[rows], batch.action_mask[rows]))
        return (sample(logits, self._generator) if self.sampled else logits.argmax(1)).numpy()

    @torch.inference_mode()
    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, float32 (N, num_actions), and values for the player to move, float32 (N,), -1 to 1.

        Args:
            observation: int8 (N, *observation_shape).
            mask: int8 (N, num_actions).

        Raises:
            ValueError: if the weights are so large that the answer is not finite.
        """
        logits, values = map(
            _finite, self.policy.logits_and_values(torch.as_tensor(observation).float(), mask)
        )
        if self.value_target == "score":  # the scale of garden_agents.search.tree.seat_values
            values = values / (1 + values.abs())
        return logits.softmax(1).numpy(), values[:, 0].clamp(-1, 1).numpy()

    def estimate(self, batch: Batch, row: int) -> str:
        """Return the network's value of the position in `row` and its three most likely actions, in words."""
        probabilities, values = self.evaluate(batch.observation[[row]], batch.action_mask[[row]])
        if batch.action_mask[row].sum() == 1:
            return "the only action"
        order = np.argsort(-probabilities[0], kind="stable")[:3]
        best = ", ".join(
            f"{batch.game.labels[a]} {probabilities[0, a]:.0%}" for a in order if probabilities[0, a] > 0
        )
        return f"value {values[0]:+.2f}; {best}"


def _finite(answer: torch.Tensor) -> torch.Tensor:
    if not torch.isfinite(answer).all():
        raise ValueError("the network's answer is not finite: its weights are too large")
    return answer


def new_policy(game: Game, network: dict[str, Any]) -> Any:
    """Return an untrained network; `network` holds the arguments of `policy_for`: kind, channels, hidden."""
    policy, arguments = policy_for(game, **network)
    observations = spaces.Box(-128, 127, game.observation_shape, np.int8)
    return policy(observations, spaces.Discrete(game.num_actions), lambda _: 0.0, **arguments)


def empty_policy(game: Game, network: dict[str, Any]) -> Any:
    """Return a network on torch's device "meta": its weights have shapes but no memory.

    Use it to check the shapes in a file that is not trusted, before memory is allocated for them.
    """
    with torch.device("meta"), torch.random.fork_rng(devices=[]):
        return new_policy(game, network)


def _check_widths(network: _Architecture, weights: dict[str, torch.Tensor]) -> None:
    """Check that the widths in the description occur in the weights, as a false width could exhaust the memory."""
    sizes = {size for tensor in weights.values() for size in tensor.shape}
    for name in ("hidden",) if network.kind == "flat" else ("hidden", "channels"):
        width = getattr(network, name)
        if width not in sizes and not (name == "channels" and network.kind == "auto"):
            raise ValueError(f"none of its weights are as wide as its {name}, {width}")


def _check_options(path: Path, made: _Description, game: Game) -> None:
    """Raise ValueError for a network that was made for other options or data."""
    files = {option.name for option in game.options if option.is_file}
    names = [name for name in game.option_values if name not in (*NOT_COMPARED, *files)]
    other = {
        name: made.options.get(name) for name in names if made.options.get(name) != game.option_values[name]
    }
    reasons = [f"{name}={short(value)}" for name, value in other.items()]
    same_data = made.tables == game.tables_digest if made.tables else not game.data
    if not reasons and not same_data:
        reasons = [f"other data ({', '.join(sorted(files)) or 'tables'})"]
    if reasons:
        here = ", ".join(f"{name}={game.option_values[name]!r}" for name in other) or repr(game)
        raise ValueError(
            f"{path} was made for {', '.join(reasons)}, not for {here}, and may play badly here; to use it all the "
            "same: allow_other_options=True, in commands --allow-other-options"
        )


def save_network(
    path: Path, game: Game, policy: Any, network: dict[str, Any], value_target: str, origin: dict[str, Any]
) -> None:
    """Write a network's file, whole or not at all.

    Args:
        path: the file.
        game: the game that the network plays.
        policy: the network.
        network: its architecture, the arguments of `policy_for`.
        value_target: what its value head predicts, one of VALUE_TARGETS.
        origin: the training that made it (command, seed, versions, ...).

    Raises:
        ValueError: for an unknown `value_target`, or weights that are not finite.
        OSError: if the disk is full or the folder cannot be written.
    """
    if value_target not in VALUE_TARGETS:
        raise ValueError(f"value_target must be one of {', '.join(VALUE_TARGETS)}, not {value_target!r}")
    weights = weights_of(policy)
    check_weights(weights, weights)
    names = {name: Path(file.name).name for name, file in game.data.items()}
    config = {
        **_interface(game),
        "options": {**game.option_values, **names},
        "tables": game.tables_digest,
        "network": network,
        "value_target": value_target,
        "origin": origin,
    }
    write(path, weights, "config", config)


def _interface(game: Game) -> dict[str, Any]:
    """Return what of a game must fit a network exactly."""
    return {
        "game": game.name,
        "cooperative": game.cooperative,
        "observation": list(game.observation_shape),
        "actions": game.num_actions,
    }


def shipped(game: Game) -> dict[int, Path]:
    """Return the network files that come with a game, by number of players."""
    folder = Path(inspect.getfile(type(game))).parent / "networks"
    return {int(path.stem): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def load(
    game: str | Game,
    num_players: int | None = None,
    seed: int = 0,
    sampled: bool = False,
    allow_other_options: bool = False,
) -> NetworkAgent:
    """Return the trained agent that comes with a game.

    Args:
        game: the game, or its name.
        num_players: number of players where `game` is a name; the game's default if None.
        seed, sampled, allow_other_options: see `NetworkAgent.load`.

    Raises:
        ValueError: if no network comes with the game for this number of players, or it was trained with other options
            or data.
    """
    if isinstance(game, str):
        game = make(game, **({} if num_players is None else {"num_players": num_players}))
    files = shipped(game)
    if game.num_players not in files:
        known = ", ".join(map(str, files)) or "none"
        raise ValueError(f"no network comes with {game.name} for {game.num_players} players; known: {known}")
    return NetworkAgent.load(files[game.num_players], game, seed, sampled, allow_other_options)
