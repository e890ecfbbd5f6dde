"""The games in OpenSpiel: `register_games()` registers every installed game with pyspiel as `garden_NAME`.

    register_games()
    game = pyspiel.load_game("garden_cacti(reward=margin)")

`BotPolicy` makes an OpenSpiel bot a policy, for example for the arena.
"""

from __future__ import annotations

import copy
import functools
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from garden_core.batch.batch import Batch
from garden_core.chance import outcomes
from garden_core.checks import as_seat, as_seed, short
from garden_core.errors import IllegalActionError
from garden_core.forks import Process
from garden_core.game import Game
from garden_core.jit import kernels, loops
from garden_core.jit.rng import seed_rng
from garden_core.registry import GameClass, game_class, list_games


def _renamed(options: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Return options with one renamed: OpenSpiel's `players` is `num_players` in a game."""
    return {new if name == old else name: value for name, value in options.items()}


class _Position:
    """The game in an OpenSpiel state. A copy shares the generator of `spiel`, so its sampled chance events differ.

    Attributes:
        spiel, game: OpenSpiel's game and ours.
        states: the state, an array of one record.
        observation, mask: int8 (1, observation size) and (1, num_actions), of the player to move.
        waiting: the pending chance event: the deal, an action that involves chance, or None.
        returns: float64 (num_players,), sum of each seat's rewards so far.
        past: for each decision so far `states` before it, and the action.
    """

    def __init__(self, spiel: OpenSpielGame) -> None:
        self.spiel, self.game = spiel, spiel.garden_game
        game = self.game
        self.states = game.new_states(1)
        self.observation = np.zeros((1, game.observation_size), np.int8)
        self.mask = np.zeros((1, game.num_actions), np.int8)
        self.waiting: int | None = loops.DEAL
        self.returns = np.zeros(game.num_players)
        self.past: list[tuple[np.ndarray, int]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> _Position:
        other = copy.copy(self)
        for name in ("states", "observation", "mask", "returns", "past"):
            setattr(other, name, getattr(self, name).copy())
        return other

    @property
    def is_dealt(self) -> bool:
        return self.waiting != loops.DEAL

    @property
    def over(self) -> bool:
        return bool(self.states["terminated"][0] | self.states["truncated"][0])

    def decide(self, action: int) -> None:
        """Take a legal action; if it involves chance, wait for the chance event."""
        before = self.states.copy()
        self.past.append((before, action))
        self._play(action, np.uint64(0))
        if (before["rng"] == self.states["rng"]).all():
            self.returns += self.rewards
        else:
            self.states, self.waiting = before.copy(), action
            self.refresh()

    @property
    def probabilities(self) -> list[float]:
        """The probability of each outcome of the pending chance event."""
        if self.waiting is None or self.spiel.samples:
            return [1.0]
        return [probability for probability, _ in self.spiel.outcomes(self.states, self.waiting)]

    def chance(self, outcome: int) -> None:
        """Carry out the pending chance event: deal, or take the waiting action."""
        assert self.waiting is not None
        if self.spiel.samples:
            seed = self.spiel.generator.integers(2**64, dtype=np.uint64)
            if self.is_dealt:
                seed_rng(self.states["rng"][0], seed)
            self._play(self.waiting, seed)
        else:
            self.states[0] = self.spiel.outcomes(self.states, self.waiting)[outcome][1]
            self.refresh()
        self.waiting = None
        self.returns += self.rewards

    def _play(self, action: int, seed: np.uint64) -> None:
        loops.play_one(self.states, self.game.params, action, seed, np.uint64(0), self.observation, self.mask)

    @property
    def rewards(self) -> np.ndarray:
        """Each seat's reward for the last action, float64 (num_players,); zero-sum to double precision."""
        rewards = self.states["rewards"][0, : self.game.num_players].astype(np.float64)
        return rewards - rewards.mean() if self.game.utility == "zero-sum" else rewards

    def refresh(self) -> None:
        """Recompute observation and mask after a change of the state."""
        loops.refresh(self.states, self.game.params, 0, self.observation, self.mask)

    def view(self, seat: int) -> np.ndarray:
        """Return the view of a seat, int8 (observation size,); zeros before the deal.

        Raises:
            ValueError: for a seat that does not exist.
        """
        return self._views(seat, self.states)[0]

    def recall(self, seat: int) -> str:
        """Return all that a seat has seen: a line for the deal and for each action, with the entries of the view it changed.

        Raises:
            ValueError: for a seat that does not exist.
        """
        raw = [states.view(np.uint8) for states in (*(states for states, _ in self.past), self.states)]
        views = self._views(seat, np.concatenate(raw).view(self.states.dtype))
        lines = ["deal", *(self.game.labels[action] for _, action in self.past)]
        changed = np.diff(views, axis=0, prepend=np.zeros_like(views[:1])).nonzero()
        for line, entry, value in zip(*changed, views[changed], strict=True):
            lines[line] += f" {entry}={value}"
        return "\n".join(lines)

    def _views(self, seat: int, states: np.ndarray) -> np.ndarray:
        """Return the views of a seat in several states, int8 (N, observation size); zeros before the deal."""
        seat = as_seat(seat, self.game.num_players)
        out = np.zeros((len(states), self.game.observation_size), np.int8)
        if self.is_dealt:
            loops.observe_rows(states, self.game.params, np.full(len(states), seat), out)
        return out

    def text(self, seat: int | None = None) -> str:
        """Return the position in words, from the view of a seat; None shows everything."""
        return self.game.text(self.states[0], seat) if self.is_dealt else "before the deal"


class OpenSpielState(pyspiel.State):
    """A state of a game; `position.states[0]` is its record.

    Chance nodes are the deal, and after an action its dice and shuffles. They have one outcome, which is sampled when it is
    applied, so a clone cannot predict it; or, with the parameter `max_chance_outcomes`, all outcomes. The deal shuffles the
    cards: a state contains their order and all hands. Search that must not see them samples other states by
    `resample_from_infostate`.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.position = _Position(game)

    def current_player(self) -> int:
        """Return the seat of the player to move, or CHANCE, or TERMINAL."""
        position = self.position
        if position.waiting is not None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if position.over else int(position.states["current_player"][0])

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.position.over

    def _legal_actions(self, player: int) -> list[int]:
        position = self.position
        if position.over or player != self.current_player():
            return []
        return np.flatnonzero(position.mask[0]).tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of a chance node with their probabilities, or the only one, which is sampled when it is applied.

        Raises:
            ValueError: if there are more than `max_chance_outcomes`.
        """
        return list(enumerate(self.position.probabilities))

    def _apply_action(self, action: int) -> None:
        """Take an action, or sample a chance event.

        Raises:
            ValueError: for an illegal action; nothing changes.
        """
        position = self.position
        if position.waiting is not None:
            number = len(position.probabilities)
            if not 0 <= action < number:
                raise ValueError(f"an outcome of chance must be 0 to {number - 1}, not {short(action)}")
            position.chance(int(action))
        elif position.over:
            raise ValueError("the game is over")
        else:
            if not (0 <= action < position.game.num_actions and position.mask[0, action]):
                raise IllegalActionError("", position.game, self.current_player(), action, position.mask[0])
            position.decide(int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        position = self.position
        event = "chance" if position.is_dealt else "deal"
        by_chance = player == pyspiel.PlayerId.CHANCE
        number = len(position.probabilities if by_chance else position.game.labels)
        if not 0 <= action < number:
            raise ValueError(f"action {short(action)} does not exist (0 to {number - 1})")
        return f"{event} {action}" if by_chance else position.game.labels[action]

    def rewards(self) -> list[float]:
        """Return each seat's reward for the last action; zeros while it waits for chance."""
        if self.position.waiting is not None:
            return [0.0] * self.position.game.num_players
        return self.position.rewards.tolist()

    def returns(self) -> list[float]:
        """Return the sum of each seat's rewards so far."""
        return self.position.returns.tolist()

    def information_state_string(self, player: int | None = None) -> str:
        """Return all that a seat has seen and done, one line for each action of any seat.

        Actions are open to all seats. A line names the action and the entries of the seat's view that it changed, such as
        `grow star 1=0 4=2`; the first line is the deal.

        Args:
            player: the seat; None: that of the player to move.

        Raises:
            ValueError: for a seat that does not exist, or None if there is no player to move.
        """
        seat = as_seat(self.current_player() if player is None else player, self.position.game.num_players)
        return self.position.recall(seat)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> OpenSpielState:
        """Return a state that is indistinguishable for a seat, with hidden cards and chance sampled again.

        Args:
            player: the seat.
            sampler: returns uniform random numbers between 0 and 1.

        Raises:
            ValueError: for a seat that does not exist.
        """
        seat = as_seat(player, self.position.game.num_players)
        other = self.clone()
        position = other.position
        seed = np.uint64(int(sampler() * 2**53))
        kernels.resample(position.states[0], position.game.params[0], seat, seed)
        position.refresh()
        return other

    def __str__(self) -> str:
        """Describe the whole position in words."""
        return self.position.text()


class _Observer:
    """Observations for pyspiel: the seat's view as float32, and as text.

    With perfect recall there is no tensor, as views of all earlier positions would be needed: `set_from` raises ValueError.
    """

    def __init__(self, game: Game, perfect_recall: bool) -> None:
        self.perfect_recall = perfect_recall
        self.tensor = np.zeros(game.observation_size, np.float32)
        self.dict = {"observation": self.tensor.reshape(game.observation_shape)}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        if self.perfect_recall:
            raise ValueError("there is no information-state tensor; use observation_tensor")
        self.tensor[:] = state.position.view(player)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        if self.perfect_recall:
            return state.information_state_string(player)
        return state.position.text(as_seat(player, state.position.game.num_players))


class OpenSpielGame(pyspiel.Game):
    """A game for pyspiel; `register_games` makes a subclass for each.

    Observation tensors are the seat's current view (in Cacti, `memory="history"` adds the memory of a careful player).
    Information-state strings have all that the seat has seen so far; there are no information-state tensors.

    Args:
        params: the game's options; the number of players is `players`, and "" means no data file. With
            `max_chance_outcomes` above its default 1, chance nodes list all their outcomes (explicit stochastic), at most
            this many; otherwise they have one, which is sampled.

    Raises:
        ValueError: for a wrong option, or a deal with more outcomes than allowed.
    """

    kind: type[Game]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = params or {}
        options = _renamed(given, "players", "num_players")
        most = options.pop("max_chance_outcomes", 1)
        if most < 1:
            raise ValueError(f"max_chance_outcomes must be at least 1, not {short(most)}")
        self.garden_game = game = self.kind(**options)
        self.most_outcomes = most
        self._outcomes = functools.lru_cache(20_000)(self._enumerated)
        if not self.samples:
            self.outcomes(game.new_states(1), loops.DEAL)
        low, high = game.reward_range
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=most,
            num_players=game.num_players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if game.utility == "zero-sum" else None,
            max_game_length=game.max_game_length,
        )
        super().__init__(_game_type(game, most), info, given)
        self._draw_seed()

    def _draw_seed(self) -> None:
        self._generator, self._process = np.random.default_rng(secrets.randbits(64)), Process()

    @property
    def generator(self) -> np.random.Generator:
        """The generator that all states of this game share; a new random one after a fork."""
        if self._process.was_forked():
            self._draw_seed()
        return self._generator

    @property
    def samples(self) -> bool:
        """Whether chance nodes have one outcome, which is sampled when it is applied."""
        return self.most_outcomes == 1

    def outcomes(self, states: np.ndarray, action: int) -> list[tuple[float, Any]]:
        """Return the probabilities and states of all results of a chance event.

        Args:
            states: an array of one state record.
            action: an action that involves chance, or DEAL.

        Raises:
            ValueError: if there are more than `max_chance_outcomes`.
        """
        return self._outcomes(states.tobytes(), action)

    def _enumerated(self, state: bytes, action: int) -> list[tuple[float, Any]]:
        before = np.frombuffer(state, self.garden_game.state_dtype)[0]
        found = outcomes(self.garden_game, before, None if action == loops.DEAL else action)
        if len(found) > self.most_outcomes:
            raise ValueError(
                f"a chance event has {len(found)} outcomes; max_chance_outcomes is {self.most_outcomes}"
            )
        return found

    def seed(self, seed: int) -> None:
        """Seed the generator that all states of this game share.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1.
        """
        self._generator, self._process = np.random.default_rng(int(as_seed(seed))), Process()

    def new_initial_state(self) -> OpenSpielState:
        """Return a state before the deal."""
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """Return an observer for pyspiel."""
        return _Observer(self.garden_game, iig_obs_type is not None and iig_obs_type.perfect_recall)


def _game_type(game: Game, max_chance_outcomes: int = 1) -> pyspiel.GameType:
    """Return OpenSpiel's metadata of a game with its options."""
    players = game.option("num_players")
    types = pyspiel.GameType
    at_end = game.option_values["reward"] == "outcome"
    return types(
        short_name=f"garden_{game.name}",
        long_name=game.title,
        dynamics=types.Dynamics.SEQUENTIAL,
        chance_mode=types.ChanceMode.SAMPLED_STOCHASTIC
        if max_chance_outcomes == 1
        else types.ChanceMode.EXPLICIT_STOCHASTIC,
        information=getattr(types.Information, f"{game.information}_INFORMATION".upper()),
        utility=types.Utility.ZERO_SUM if game.utility == "zero-sum" else types.Utility.IDENTICAL,
        reward_model=types.RewardModel.TERMINAL if at_end else types.RewardModel.REWARDS,
        max_num_players=players.high,
        min_num_players=players.low,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_renamed(type(game)().option_values, "num_players", "players")
        | {"max_chance_outcomes": 1},
    )


_registered: dict[str, type[Game]] = {}


def register_games(*games: GameClass) -> None:
    """Register games with pyspiel as `garden_NAME`; repeated calls have no effect.

    Args:
        *games: names, or Game classes; by default all installed games.

    Raises:
        TypeError, ValueError: for an unknown game, as `garden_core.make`.
        ValueError: if another class is registered under the same name.

    Example:
        >>> import pyspiel
        >>> from garden_core.interfaces import register_games
        >>> register_games("cacti")
        >>> pyspiel.load_game("garden_cacti").num_distinct_actions()
        35
    """
    for game in games or list_games():
        kind = game_class(game)
        known = _registered.setdefault(kind.name, kind)
        if known is not kind:
            raise ValueError(
                f"garden_{kind.name} is registered for another class, {known.__module__}:{known.__qualname__}: "
                f"give {kind.__qualname__} a name of its own"
            )
        if f"garden_{kind.name}" not in pyspiel.registered_names():
            made = type(f"{kind.__name__}Game", (OpenSpielGame,), {"kind": kind})
            pyspiel.register_game(_game_type(kind()), made)


def state_of(game: OpenSpielGame, state: Any) -> OpenSpielState:
    """Return the OpenSpiel state of a game in progress, without history.

    Args:
        game: the game.
        state: a state record.

    Raises:
        ValueError: for a state of another game, or one that was never dealt.
    """
    if getattr(state, "dtype", None) != game.garden_game.state_dtype or not kernels.is_dealt(state):
        raise ValueError(f"not a dealt state record of {game.garden_game.name}: {short(state)}")
    made = game.new_initial_state()
    position = made.position
    position.states[0] = state
    position.waiting = None
    position.refresh()
    return made


class BotPolicy:
    """An OpenSpiel bot as a policy for arena, learner and play; before each decision, hidden information is resampled.

    Args:
        game: the game.
        make_bot: returns a bot for an OpenSpiel game.
        seed: seed of the resampling.

    Example:
        >>> import numpy as np
        >>> from open_spiel.python.algorithms import mcts
        >>> from garden_core import RandomPolicy, make, record
        >>> from garden_core.interfaces import BotPolicy
        >>> def bot(game):
        ...     rng = np.random.RandomState(0)
        ...     return mcts.MCTSBot(game, 2, 5, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
        >>> game = make("cacti")
        >>> record(game, [BotPolicy(game, bot), RandomPolicy(1)]).ended
        'terminated'
    """

    def __init__(self, game: Game, make_bot: Callable[[OpenSpielGame], Any], seed: int = 0) -> None:
        register_games(type(game))
        options = _renamed(game.option_values, "num_players", "players")
        self.game: OpenSpielGame = pyspiel.load_game(f"garden_{game.name}", options)
        self.game.seed(seed)
        self.bot = make_bot(self.game)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action for each of `rows`; raises as `Batch.asked`."""
        rows = batch.asked(rows)
        actions = np.zeros(len(rows), np.int64)
        for i, row in enumerate(rows):
            state, sampler = state_of(self.game, batch.states[row]), self.game.generator.random
            actions[i] = self.bot.step(state.resample_from_infostate(state.current_player(), sampler))
        return actions
