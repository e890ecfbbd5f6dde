"""The PettingZoo AEC environment of any game; it checks its arguments itself, without wrappers."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from garden_core.checks import as_integer, as_seed, check_illegal, require_reset, short
from garden_core.errors import IllegalActionError
from garden_core.forks import Process
from garden_core.game import Game
from garden_core.interfaces.common import check_render_mode, masked_space, render
from garden_core.jit import loops
from garden_core.jit.rng import game_seed
from garden_core.recorded.recorder import Folder, Recorder
from garden_core.registry import AnyGame, as_game
from garden_core.render.display import Display

Observation = dict[str, np.ndarray]


class GardenEnv(AECEnv[str, Observation, int]):
    """One game as a PettingZoo environment; agents are `player_0` … in seating order.

    Observations are dicts of new arrays: `observation`, int8 `game.observation_shape`, from the agent's own seat, and
    `action_mask`, int8 (num_actions,), all zeros unless it is the agent's turn. Each step gives rewards to all agents.

    Args:
        game: a game, a Game class or the name of an installed game.
        render_mode: "ansi" (a str), "rgb_array" (uint8 (H, W, 3)), "human" or None. "human" shows each reset and step in a
            window (pygame, the extra `human`) or below the cell of a notebook, at most `metadata["render_fps"]` per
            second. A window that the user closes stays closed until `close`, and the game continues.
        illegal: "raise" a ValueError at an illegal action, which changes nothing; or "terminate" the game with reward -1
            for the offender and 0 for the others, as PettingZoo's classic games do.
        record: a folder, created if missing, for a replay of each game (`garden_core.recorded.replay`), game-000001.json etc.,
            including games that a reset or `close` cuts short. None for no replays.
        **options: the game's options, unless `game` is a Game.

    Raises:
        TypeError, ValueError: for options as the game does; for an unknown render mode or value of `illegal`; for a
            `record` that is no folder.

    Example:
        >>> from mars_env import mars_v0
        >>> env = mars_v0.env(num_players=3)
        >>> env.reset(seed=42)
        >>> env.agents
        ['player_0', 'player_1', 'player_2']
    """

    def __init__(
        self,
        game: AnyGame,
        render_mode: str | None = None,
        illegal: str = "raise",
        record: Folder | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.game: Game = as_game(game, options)
        check_render_mode(render_mode)
        check_illegal(illegal)
        self.render_mode = render_mode
        self.illegal = illegal
        self.metadata = {
            "name": f"{self.game.name}_v{self.game.version}",
            "render_modes": ["ansi", "rgb_array", "human"],
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self.agents: list[str] = []
        n = self.game.num_actions
        self.observation_spaces = {
            agent: masked_space(self.game, "observation", np.int8) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(n) for agent in self.possible_agents}
        size = self.game.observation_size + self.game.hidden_size
        self.state_space = spaces.Box(0, 127, (size,), np.int8)
        self.states: np.ndarray = self.game.new_states(1)
        """The state of the game, an array of one record."""
        self._observation = np.zeros((1, self.game.observation_size), np.int8)
        self._mask = np.zeros((1, n), np.int8)
        self._dense_rewards = bool(self.game.params["reward"][0])  # also before the end of the game
        self._seed: np.uint64 | None = None
        self._episode = np.uint64(0)
        self._process = Process()
        self._dealt = False
        self._recorder = None if record is None else Recorder(self.game, record)
        self._display = Display(self.game.title)
        self._view: int | None = None  # the seat whose view the display shows
        self._decisions: list[tuple[str, int]] | None = None  # agents and actions, if recorded or drawn

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the agent's observation space, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """Return the agent's action space, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: game 0 of `seed`, or without a seed the next game of the current one.

        Without a seed, the first game and the first one after a fork have a new random seed.

        `options` is part of PettingZoo's interface and has no effect: the constructor takes the game's options.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1.
            ImportError: if a window is needed and pygame is missing.
            OSError: if a replay cannot be written.
        """
        number = None if seed is None else as_seed(seed)
        self._record_running()
        if number is not None:
            self._seed, self._episode = number, np.uint64(0)
        elif self._seed is None or self._process.was_forked():
            self._seed, self._episode = np.uint64(secrets.randbits(64)), np.uint64(0)
        else:
            self._episode += np.uint64(1)
        self._process = Process()
        self._dealt = True
        self._play(loops.DEAL)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self.states["current_player"][0]]
        self._decisions = [] if self._follows() else None
        if self.render_mode == "human":
            self.render(self._view)

    def observe(self, agent: str) -> Observation:
        """Return the observation of `agent`, at any time, also after the end of its game.

        Raises:
            ValueError: for an agent that does not exist.
            RuntimeError: before the first reset.
        """
        require_reset(self._dealt, "observe")
        if not isinstance(agent, str) or agent not in self.possible_agents:
            raise ValueError(f"unknown agent {short(agent)}; agents are {', '.join(self.possible_agents)}")
        over = self.terminations.get(agent, True) or self.truncations.get(agent, True)
        if agent == self.agent_selection and not over:
            view, mask = self._observation.copy(), self._mask[0].copy()
        else:
            view, mask = np.zeros_like(self._observation), np.zeros_like(self._mask[0])
            loops.observe_rows(self.states, self.game.params, np.array([self._seat(agent)]), view)
        return {"observation": view.reshape(self.game.observation_shape), "action_mask": mask}

    def state(self) -> np.ndarray:
        """Return the full state without the generator, int8 `state_space.shape`: for training only.

        It is the flat observation of player_0, then what is hidden from it (`game.hidden_parts`).

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self._dealt, "state")
        out, seats = np.zeros((1, *self.state_space.shape), np.int8), np.zeros(1, np.int64)
        seen = self.game.observation_size
        loops.observe_rows(self.states, self.game.params, seats, out[:, :seen])
        loops.hidden_rows(self.states, self.game.params, seats, out[:, seen:])
        return out[0]

    def step(self, action: Any) -> None:
        """Take `action` for `agent_selection`; it must be None for an agent whose game is over.

        Raises:
            ValueError: for an illegal action, unless that ends the game; it names the agent, the action's label and some
                legal ones, and nothing changes.
            RuntimeError: before the first reset, or when every agent has left.
            OSError: if a replay cannot be written; the step is complete.
        """
        require_reset(self._dealt, "step")
        if not self.agents:
            raise RuntimeError("the game is over for all agents; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ValueError(f"{agent}'s game is over; its only action is None, not {short(action)}")
            self._was_dead_step(None)
            return
        chosen = action if type(action) is int else as_integer(action, f"{agent}: an action")
        if not (0 <= chosen < self._mask.shape[1] and self._mask[0, chosen]):
            self._illegal(agent, chosen)
            return
        player = self._play(chosen)
        over = player < 0
        self._cumulative_rewards[agent] = 0.0
        if over or self._dense_rewards:
            self.rewards = dict(zip(self.possible_agents, self.states["rewards"][0].tolist(), strict=False))
            self._accumulate_rewards()
        if over:
            self.terminations = dict.fromkeys(self.agents, bool(self.states["terminated"][0]))
            self.truncations = dict.fromkeys(self.agents, bool(self.states["truncated"][0]))
        self.agent_selection = self.possible_agents[-1 - player if over else player]
        if self._decisions is not None:
            self._decisions.append((agent, chosen))
            if over:
                self._record()
            if self.render_mode == "human":
                self.render(self._view)

    def _follows(self) -> bool:
        """Whether decisions are recorded or drawn."""
        return self._recorder is not None or self.render_mode in ("rgb_array", "human")

    def _record(self) -> None:
        """Write the game up to now, if games are recorded."""
        if self._recorder is not None and self._decisions is not None:
            seed = game_seed(self._seed, np.uint64(0), self._episode)
            self._recorder.save(int(seed), [action for _, action in self._decisions], self.states[0])

    def _record_running(self) -> None:
        """Write an unfinished game; a finished one is written already."""
        if self.agents and not any((*self.terminations.values(), *self.truncations.values())):
            self._record()
        self._decisions = None

    def _play(self, action: int) -> int:
        """Take a legal action, or deal; return the seat p of the player to move, or -1 - p if the game is over."""
        return loops.play_one(
            self.states, self.game.params, action, self._seed, self._episode, self._observation, self._mask
        )

    def _illegal(self, agent: str, action: int) -> None:
        if self.illegal == "raise":
            raise IllegalActionError(f"{agent}: ", self.game, self._seat(agent), action, self._mask[0])
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0) | {agent: -1.0}
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self._record()

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last step, termination, truncation and info of `agent_selection`.

        Raises:
            RuntimeError: before the first reset, or when every agent has left.
        """
        require_reset(self._dealt, "last")
        if not self.agents:
            raise RuntimeError("the game is over for all agents; call reset()")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents in the order of their turns, as PettingZoo does.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self._dealt, "agent_iter")
        return super().agent_iter(max_iter)

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain JSON values.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self._dealt, "snapshot")
        return self.game.snapshot(self.states[0])

    def render(self, seat: int | None = None) -> str | np.ndarray | None:
        """Return the position as text, or as a picture with the last decision marked, according to `render_mode`.

        With "human" show the picture and return None; resets and steps do so automatically. Without a render mode warn and
        return None.

        Args:
            seat: render the view of this seat; None shows everything. With "human" resets and steps keep showing the view
                of the last call, at first everything.

        Raises:
            ValueError: for a seat that does not exist, or a picture of a game that has none.
            RuntimeError: before the first reset.
            ImportError: if a window is needed and pygame is missing.
        """
        require_reset(self._dealt, "render")
        self.game.check_seat(seat)
        self._view = seat
        fps: Any = self.metadata["render_fps"]
        last = self._last_decision()
        return render(self.game, self.states[0], self.render_mode, seat, last, self._display, fps)

    def close(self) -> None:
        """Close the window, and record an unfinished game if games are recorded.

        Raises:
            OSError: if a replay cannot be written.
        """
        self._display.close()
        self._record_running()

    def _repr_svg_(self) -> str | None:
        require_reset(self._dealt, "_repr_svg_")
        return self.game.svg(self.states[0], last=self._last_decision())

    def _last_decision(self) -> tuple[int, int] | None:
        if not self._decisions:
            return None
        agent, action = self._decisions[-1]
        return self._seat(agent), action

    def _seat(self, agent: str) -> int:
        return self.possible_agents.index(agent)


env: Callable[..., GardenEnv] = GardenEnv


def module_env(game: type[Game], module: str) -> Callable[..., GardenEnv]:
    """Return `env` for a module such as `mars_v0`: the constructor of `GardenEnv` for one game.

    Args:
        game: the game's class.
        module: name of the module.

    Raises:
        ValueError: unless the module's name ends with the game's version.
    """
    if not module.endswith(f"_v{game.version}"):
        raise ValueError(f"{module} must end with _v{game.version}, the version of {game.__name__}")
    return functools.partial(GardenEnv, game)
