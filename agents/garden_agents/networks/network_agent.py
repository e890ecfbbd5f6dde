"""Trained networks as agents, and their files.

A network's file is in the safetensors format, which holds no code. It has the weights, and as metadata a JSON
description of the architecture, the game and the training.
"""

from __future__ import annotations

from os.path import isdir
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from garden_agents.games import networks_folder
from garden_agents.networks import NETWORK, SUFFIX
from garden_agents.networks.all_seats import Values, network_values, valued_rows
from garden_agents.networks.architecture import Architecture, empty_network
from garden_agents.networks.heads import (
    VALUE_TARGETS,
    best_actions,
    expected_values,
    probabilities,
    sample,
    target_of,
)
from garden_agents.networks.network import Network
from garden_agents.networks.variants import Variants
from garden_agents.networks.weights import check_weights
from garden_core.batch.batch import Batch
from garden_core.batch.policies import NETWORK_STREAM, Reseedable, Streams
from garden_core.checks import as_seed, check_choice, one_line, short
from garden_core.files.array_files import read, write
from garden_core.game import Game
from garden_core.registry import make

NOT_COMPARED = ("reward", "max_decisions")
"""Options that may differ between training and play, as a network does not depend on them."""
ALL_THE_SAME = "to use it all the same: allow_other_options=True, in commands --allow-other-options"


class Description(msgspec.Struct):
    """The metadata of a network's file, as JSON."""

    game: str
    version: int  # of the game
    cooperative: bool
    observation: list[int]
    actions: int
    options: dict[str, bool | int | str]
    network: Architecture
    value_target: Literal["outcome", "margin", "score", "seats"]
    tables: str  # the game's `tables_digest`
    variants: Variants = Variants()  # what it was trained on besides
    origin: dict[str, Any] = {}


class NetworkAgent(Reseedable):
    """A network as a policy for a batch.

    Args:
        network: the network.
        value_target: what its value head predicts, one of `heads.VALUE_TARGETS`.
        sampled: sample actions; otherwise play the most likely action.
        seed: seed of the sampling; row i samples from the generator of (seed, i).

    Example:
        >>> from garden_agents import NetworkAgent, load
        >>> agent = load("mars", num_players=2)
        >>> isinstance(agent, NetworkAgent), agent.value_target
        (True, 'seats')
    """

    def __init__(self, network: Network, value_target: str, sampled: bool = False, seed: int = 0) -> None:
        self.network, self.value_target, self.sampled = network, value_target, sampled
        self.seed = int(as_seed(seed))
        self.config: dict[str, Any] = {}
        """Metadata of the network's file; {} for a network in training."""
        self.path: Path | None = None
        """The network's file; None for a network in training."""
        self._streams = Streams(NETWORK_STREAM, self.seed)

    @classmethod
    def load(
        cls, path: Path, game: Game, seed: int = 0, sampled: bool = False, allow_other_options: bool = False
    ) -> NetworkAgent:
        """Load a network from its file, or from the folder of a run.

        Args:
            path: the file or folder.
            game: the game to play.
            seed, sampled: see the class.
            allow_other_options: accept a network that was trained with another number of players, other options or
                other data, if its observations and actions have the same shapes. It may play badly, and it values as
                many seats as it was trained with.

        Raises:
            ValueError: if the file is missing or damaged, the weights are not finite, or the network was trained for
                another game or version, other observations or actions, other options or data, or for the cooperative
                variant if this game is not (or the reverse).
        """
        path, network, made, config = _loaded(path, game, allow_other_options)
        if "num_players" in made.variants.options and game.num_players <= _players(made, game):
            if made.value_target == "seats":
                network = _of_variant(network, made, game)
            others = {key: [*values] for key, values in made.variants.options.items() if key != "num_players"}
            config |= {
                "options": made.options | {"num_players": game.num_players},
                "tables": _trained(made, game).with_options(num_players=game.num_players).tables_digest,
                "variants": {"options": others, "card_sets": made.variants.card_sets},
            }
        agent = cls(network, made.value_target, sampled, seed)
        agent.config, agent.path = config, path
        return agent

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError: if the weights are so large that the logits are not finite; and as `Batch.asked`, which also raises
                IndexError and RuntimeError.
        """
        return self.with_probabilities(batch, rows)[0]

    def with_probabilities(self, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return actions as a call does, and the probability of each, float32 (len(rows),): 1 if they are not sampled."""
        rows = batch.asked(rows)
        return self._choose(self._outputs(batch.flat[rows])[0], batch, rows)

    def decide(self, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return actions as a call does, and values as `evaluate` does, from one forward pass."""
        rows = batch.asked(rows)
        logits, raw = self._outputs(batch.flat[rows])
        return self._choose(logits, batch, rows)[0], expected_values(raw, self.value_target)

    def _choose(self, logits: np.ndarray, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        masks = batch.action_mask[rows]
        if not self.sampled:
            return np.where(masks != 0, logits, -np.inf).argmax(1), np.ones(len(masks), np.float32)
        actions, logs = sample(logits, masks, self._streams.on(batch), np.asarray(rows, np.int64))
        return actions, np.maximum(np.exp(logs), np.finfo(np.float32).tiny)

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, float32 (N, num_actions), and values from -1 to 1: see `heads.expected_values`.

        Args:
            observation: int8 `(N, *observation_shape)`.
            mask: int8 (N, num_actions).

        Raises:
            ValueError: if the weights are so large that the outputs are not finite.
        """
        logits, raw = self._outputs(observation)
        return probabilities(logits, mask), expected_values(raw, self.value_target)

    def values(self, batch: Batch, rows: np.ndarray) -> Values:
        """Return the expected results of all seats in `rows`, int (n,), which may be over: see `garden_agents.Values`.

        Raises:
            ValueError: if the network values another number of seats, or its outputs are not finite; for a repeated row.
            IndexError, RuntimeError: as `Batch.asked`.
        """
        rows = valued_rows(batch, rows)
        raw = self._outputs(batch.flat[rows])[1]
        return network_values(batch.game, batch.states[rows], raw, self.value_target)

    def _outputs(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, raw = self.network.evaluate(observation)
        if not (np.isfinite(logits).all() and np.isfinite(raw).all()):
            raise ValueError("the network's answer is not finite: its weights are too large")
        return logits, raw

    def estimate(self, batch: Batch, row: int) -> str:
        """Describe the network's value of the position in `row` and its three most likely actions."""
        chances, values = self.evaluate(batch.observation[[row]], batch.action_mask[[row]])
        return best_actions(batch, row, values.ravel()[0], chances[0])  # the value for the player to move


def _loaded(
    path: Path, game: Game, allow_other_options: bool
) -> tuple[Path, Network, Description, dict[str, Any]]:
    """Return a network's file, the network, its description and its metadata; raises as `NetworkAgent.load`."""
    path = path / NETWORK if isdir(path) else path
    try:
        weights, made, config = read(path, "config", Description)
        _check_widths(made.network, weights)
    except ValueError as error:
        raise ValueError(f"{path} is no network of garden-envs: {error}") from None
    network = described_network(path, made, game, allow_other_options)
    try:
        check_weights(weights, network.shapes)
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
    network.set_weights(weights)
    return path, network, made, config


def _of_variant(network: Network, made: Description, game: Game) -> Network:
    """Return a network for one of the variants that it was trained on, with values of that variant's seats alone."""
    own, weights = empty_network(game, made.network, made.value_target), dict(network.weights)
    for name in ("values.weight", "values.bias"):
        first, margins = np.split(weights[name], 2)
        weights[name] = np.concatenate([first[: game.num_players], margins[: game.num_players]])
    own.set_weights(weights)
    return own


def described_network(path: Path, made: Description, game: Game, allow_other_options: bool) -> Network:
    """Return a network of the described architecture, without weights.

    Args:
        path: the file, for messages.
        made: its description.
        game, allow_other_options: see `NetworkAgent.load`.

    Raises:
        ValueError: if the network was made for another game, or as `NetworkAgent.load` for other options.
    """
    needed = _interface(game)
    given = {key: getattr(made, key) for key in needed}
    base = game.variant_of
    while base is not None and base.name != made.game:
        base = base.variant_of
    if base is not None:
        needed |= {"game": base.name, "version": base.version}
        if not allow_other_options:
            raise ValueError(
                f"{path} was made for {base.name}, of which {game.name} is a variant, and may play badly here; {ALL_THE_SAME}"
            )
    if made.game == game.name and made.version != game.version:
        raise ValueError(
            f"{path} was made for version {made.version} of {game.name}, and this is version {game.version}: train a network for this version "
            "(garden train), or use the release of garden-envs that trained it"
        )
    if given != needed:
        raise ValueError(f"{path} holds a network for {one_line(given)}, but {game} needs {needed}")
    if not allow_other_options:
        _check_options(path, made, game)
    try:
        return empty_network(game, made.network, made.value_target, _players(made, game))
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}") from None


def _players(made: Description, game: Game) -> int:
    """Return the largest number of players that a network was trained with, and so of the seats that it values.

    Raises:
        ValueError: if the game does not allow that number.
    """
    numbers = made.variants.options.get("num_players") or (made.options.get("num_players", game.num_players),)
    most = 0
    for n in numbers:
        if type(n) is not int or not 1 <= n <= game.max_players:
            raise ValueError(f"num_players must be 1 to {game.max_players}, not {short(n)}")
        most = max(most, n)
    return most


def _check_widths(network: Architecture, weights: dict[str, np.ndarray]) -> None:
    """Check that the widths in the description occur in the weights, as a false width could exhaust the memory."""
    sizes = {size for array in weights.values() for size in array.shape}
    for name in ("hidden", "channels") if network.kind == "board" else ("hidden",):
        if (width := getattr(network, name)) not in sizes:
            raise ValueError(f"none of its weights are as wide as its {name}, {width}")


def _check_options(path: Path, made: Description, game: Game) -> None:
    """Raise ValueError for a network that was trained with other options or data."""
    files = {option.name for option in game.options if option.is_file}
    names = [name for name in game.option_values if name not in (*NOT_COMPARED, *files)]
    # a network may be older than an option, which then had its default
    played = game.defaults | made.options
    varied = made.variants.options
    other = {
        name: played[name]
        for name in names
        if game.option_values[name] not in (*varied.get(name, ()), played[name])
    }
    unknown = sorted(made.options.keys() - game.option_values.keys())
    reasons = [
        f"{name}={' or '.join(map(short, varied.get(name, [value])))}" for name, value in other.items()
    ]
    reasons += [f"the option {short(name)}" for name in unknown[:3]]
    if not reasons and not made.variants.card_sets and made.tables != _trained(made, game).tables_digest:
        reasons = [f"other data ({', '.join(sorted(files)) or 'tables'})"]
    if reasons:
        here = ", ".join(f"{name}={game.option_values[name]!r}" for name in other) or repr(game)
        raise ValueError(
            f"{path} was made for {', '.join(reasons)}, not for {here}, and may play badly here; {ALL_THE_SAME}"
        )


def _trained(made: Description, game: Game) -> Game:
    """Return the game with the values that the description gives for options of which a network was trained on several."""
    return game.with_options(
        **{name: made.options.get(name) for name in made.variants.options if name in game.option_values}
    )


def save_network(
    path: Path,
    game: Game,
    network: Network,
    architecture: Architecture,
    value_target: str,
    origin: dict[str, Any],
    variants: Variants | None = None,
) -> None:
    """Write a network's file atomically.

    Args:
        path: the file.
        game: the game that the network plays.
        network: the network.
        architecture: its architecture.
        value_target: what its value head predicts, one of `heads.VALUE_TARGETS`.
        origin: how it was trained (command, seed, versions, ...).
        variants: what it was trained on besides `game`; None for nothing.

    Raises:
        ValueError: for an unknown `value_target`, or weights that are not finite.
        OSError: if the disk is full or the folder cannot be written.
    """
    check_choice(value_target, "value_target", VALUE_TARGETS)
    check_weights(network.weights, network.shapes)
    config = {
        **_interface(game),
        "options": game.shown_options,
        "tables": game.tables_digest,
        "network": msgspec.to_builtins(architecture),
        "value_target": value_target,
        "variants": msgspec.to_builtins(variants or Variants()),
        "origin": origin,
    }
    write(path, network.weights, "config", config)


def _interface(game: Game) -> dict[str, Any]:
    """Return the properties of a game that must match a network's exactly."""
    return {
        "game": game.name,
        "version": game.version,
        "cooperative": game.cooperative,
        "observation": list(game.observation_shape),
        "actions": game.num_actions,
    }


def start_from(path: Path, network: Network, game: Game, architecture: Architecture) -> None:
    """Initialize a network with the weights in a network's file.

    The value layer keeps its random weights if the file's network has another number of players or value target.

    Raises:
        ValueError: as `NetworkAgent.load`, and if the file's network has another architecture.
    """
    path, first, described, config = _loaded(path, game, allow_other_options=True)
    values = {"values.weight", "values.bias"}
    other = {name for name, _ in network.shapes.items() ^ first.shapes.items()}
    if not other <= values:
        needed = msgspec.to_builtins(architecture)
        made = {name: value for name, value in config["network"].items() if value != needed[name]}
        made = {{"kind": "network"}.get(name, name.replace("_", "-")): value for name, value in made.items()}
        words = [
            f"--{'no-' * (not value)}{name}" if isinstance(value, bool) else f"--{name} {value}"
            for name, value in made.items()
        ]
        raise ValueError(f"{path} has another architecture: to start from it, add {' '.join(words)}")
    if described.value_target != target_of(game):
        other |= values
    network.set_weights({name: array for name, array in first.weights.items() if name not in other})


def shipped(game: Game) -> dict[int, Path]:
    """Return the files of a game's pretrained networks by number of players."""
    folder = networks_folder(game)
    return {} if folder is None else {int(path.stem): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def load(
    game: str | Game,
    num_players: int | None = None,
    seed: int = 0,
    sampled: bool = False,
    allow_other_options: bool = False,
) -> NetworkAgent:
    """Return the pretrained agent of a game.

    Args:
        game: the game, or its name.
        num_players: number of players if `game` is a name; the game's default if None.
        seed, sampled, allow_other_options: see `NetworkAgent.load`.

    Raises:
        ValueError: if there is no pretrained network for this number of players, or it was trained with other options
            or data.

    Example:
        >>> from garden_agents import load
        >>> from garden_core import Batch
        >>> batch, agent = Batch("cacti", num_envs=4), load("cacti")
        >>> batch.reset(seed=1)
        >>> batch.step(agent(batch, batch.all_rows))
    """
    if isinstance(game, str):
        game = make(game, **({} if num_players is None else {"num_players": num_players}))
    files = shipped(game)
    if game.num_players not in files:
        known = ", ".join(map(str, files)) or "none"
        raise ValueError(
            f"{game.name} has no pretrained network for {game.num_players} players; known: {known}"
        )
    return NetworkAgent.load(files[game.num_players], game, seed, sampled, allow_other_options)
