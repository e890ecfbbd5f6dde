"""The PettingZoo AEC environment over any game. It does its own checks, so it needs no wrappers."""

from __future__ import annotations

import copy
import functools
import hashlib
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from garden_core.checks import as_integer, as_seed, check_illegal, require_reset, short
from garden_core.errors import IllegalActionError
from garden_core.files.recorder import Folder, Recorder
from garden_core.game import Game
from garden_core.interfaces.common import check_render_mode, masked_space, render
from garden_core.jit import loops
from garden_core.jit.rng import game_seed
from garden_core.registry import AnyGame, as_game
from garden_core.render.display import Display

Observation = dict[str, np.ndarray]


class GardenEnv(AECEnv[str, Observation, int]):
    """One game as a PettingZoo environment; agents are `player_0` … in seating order.

    Observations are dicts: `observation`, int8 `game.observation_shape`, from the agent's own seat, and
    `action_mask`, int8 (num_actions,), all zeros for an agent that is not to move. Each call returns arrays
    of its own. Rewards come with the step that earns them, for all agents at once.

    Args:
        game: a game, a Game class or the name of an installed game.
        render_mode: "ansi" (a str), "rgb_array" (uint8 (H, W, 3)), "human" or None. "human" shows each reset and step in a
            window (pygame, the extra `human`) or below the cell of a notebook, `metadata["render_fps"]` a second at most.
            A window that its user closes stays closed until `close`, and the game goes on.
        illegal: "raise" a ValueError at an illegal action, which changes nothing; or "terminate" the game
            with reward -1 for the offender and 0 for the others, as PettingZoo's classic games do.
        record: a folder, made if missing, that gets a replay of each game (`garden_core.files.replay`), as game-000001.json and
            so on; a game that a reset or `close` cuts short as far as it went. None for no replays.
        **options: the game's options, unless `game` is a game already.

    Raises:
        TypeError, ValueError: for options as the game does; for render modes and `illegal` not listed; for a `record`
            that is no folder.
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
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        n = self.game.num_actions
        self.observation_spaces = {
            agent: masked_space(self.game, "observation", np.int8) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(n) for agent in self.possible_agents}
        self.states: np.ndarray = self.game.new_states(1)
        """The state of the game, an array of one record."""
        self._observation = np.zeros((1, self.game.observation_size), np.int8)
        self._mask = np.zeros((1, n), np.int8)
        self._pays_along = bool(self.game.params["reward"][0])  # before the end of the game too
        self._seed: np.uint64 | None = None
        self._episode = np.uint64(0)
        self._dealt = False
        self._recorder = None if record is None else Recorder(self.game, record)
        self._display = Display(self.game.title)
        self._view: int | None = None  # the seat whose view the display shows
        self._decisions: list[tuple[str, int]] | None = None  # agents and actions, where these are asked for

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the agent's observation space, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """Return the agent's action space, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: game 0 of `seed`, or without a seed the next game of the present one.

        `options` is part of PettingZoo's interface and has no effect: options are chosen on construction.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1.
            ImportError: if there is to be a window, and no pygame.
            OSError: if a replay cannot be written.
        """
        number = None if seed is None else as_seed(seed)
        self._record_running()
        if number is not None:
            self._seed, self._episode = number, np.uint64(0)
        elif self._seed is None:
            self._seed = np.uint64(secrets.randbits(64))
        elif self._dealt:
            self._episode += np.uint64(1)
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
        """Return what `agent` sees, at any time, also when its game is over.

        Raises:
            ValueError: for an agent that does not exist.
            RuntimeError: before the first reset.
        """
        require_reset(self._dealt, "observe")
        seat = self._seats.get(agent) if isinstance(agent, str) else None
        if seat is None:
            raise ValueError(f"unknown agent {short(agent)}; agents are {', '.join(self.possible_agents)}")
        over = self.terminations.get(agent, True) or self.truncations.get(agent, True)
        if agent == self.agent_selection and not over:
            return {
                "observation": self._observation.reshape(self.game.observation_shape).copy(),
                "action_mask": self._mask[0].copy(),
            }
        out = np.zeros_like(self._observation)
        loops.observe_rows(self.states, self.game.params, np.array([seat]), out)
        return {
            "observation": out.reshape(self.game.observation_shape),
            "action_mask": np.zeros_like(self._mask[0]),
        }

    def step(self, action: Any) -> None:
        """Take `action` for `agent_selection`; None (and nothing else) for an agent whose game is over.

        Raises:
            ValueError: for an illegal action; it names the agent, the action's label and some legal ones, and
                nothing has changed. Not with `illegal="terminate"`.
            RuntimeError: before the first reset, or when every agent has left.
            OSError: if a replay cannot be written; the step was taken.
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
        if over or self._pays_along:
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
        """Whether somebody asks for the decisions of a game."""
        return self._recorder is not None or self.render_mode in ("rgb_array", "human")

    def _record(self) -> None:
        """Write the game as far as it went, if games are recorded."""
        if self._recorder is not None and self._decisions is not None:
            seed = game_seed(self._seed, np.uint64(0), self._episode)
            self._recorder.save(int(seed), [action for _, action in self._decisions], self.states[0])

    def _record_running(self) -> None:
        """Write a game that is not over, which one that is over was."""
        if self.agents and not any((*self.terminations.values(), *self.truncations.values())):
            self._record()
        self._decisions = None

    def _play(self, action: int) -> int:
        """Take a legal action, or deal; return who is to move, p, or -1 - p if the game is over."""
        return loops.play_one(
            self.states, self.game.params, action, self._seed, self._episode, self._observation, self._mask
        )

    def _illegal(self, agent: str, action: int) -> None:
        if self.illegal == "raise":
            seat = self.possible_agents.index(agent)
            raise IllegalActionError(f"{agent}: ", self.game, seat, action, self._mask[0])
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0) | {agent: -1.0}
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self._record()

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return what `agent_selection` sees, was paid since its last step, and whether its game is over.

        Raises:
            RuntimeError: before the first reset, or when every agent has left.
        """
        require_reset(self._dealt, "last")
        if not self.agents:
            raise RuntimeError("the game is over for all agents; call reset()")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents to move, as PettingZoo does.

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
        """Return the position as text, or as a picture with the last decision marked, as `render_mode` says.

        With "human" the picture is shown, which resets and steps do automatically; None is returned. Without a render mode
        None, with a warning.

        Args:
            seat: who looks, and sees nothing hidden from this seat; None: an onlooker, who sees all. With "human" resets
                and steps go on showing the view of the last call, at first an onlooker's.

        Raises:
            ValueError: for a seat that does not exist, or a picture of a game that has none.
            RuntimeError: before the first reset.
            ImportError: if there is to be a window, and no pygame.
        """
        require_reset(self._dealt, "render")
        self.game.check_seat(seat)
        self._view = seat
        fps: Any = self.metadata["render_fps"]
        last = self._last_decision()
        return render(self.game, self.states[0], self.render_mode, seat, last, self._display, fps)

    def close(self) -> None:
        """Close the window, and record the game in play as far as it went, where there are such.

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
        return self._seats[agent], action

    def get_state(self) -> dict[str, Any]:
        """Return the game in progress, for `set_state`; picklable, independent of this environment.

        Before the first reset it says that no game is in progress.
        """
        state = copy.deepcopy({name: getattr(self, name, None) for name in _IN_PROGRESS})
        return {"game": self._identity(), **state, "checksum": _checksum(state)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` of an environment with an equal game returned, on the same build of the rules.

        Where games are recorded, this one is if the other environment records or draws too, and so knows it from its deal
        on; else it is left out, with a warning when it is over. The game that was in play here is given up, and not recorded.

        Raises:
            ValueError: for anything else, a state of other options or one that was changed included; nothing has
                changed then.
        """
        if not isinstance(state, dict) or set(state) != {"game", *_IN_PROGRESS, "checksum"}:
            raise ValueError("this is not a state that get_state() returned")
        found, own = state["game"], self._identity()
        if not (isinstance(found, dict) and _shown(found) == _shown(own)):
            differ = _differing(found, own)
            raise ValueError(
                f"this state comes from another game, other options or another build of the rules: {'; '.join(differ)}"
            )
        try:
            kept = copy.deepcopy({name: state[name] for name in _IN_PROGRESS})
            whole = _shown(state["checksum"]) == _shown(_checksum(kept))
        except (ValueError, TypeError, RecursionError):  # of values that no state has
            whole = False
        if not whole:
            raise ValueError("this state was changed after get_state() returned it")
        for name, value in kept.items():
            setattr(self, name, value)
        self._decisions = (self._decisions or []) if self._follows() else None

    def _identity(self) -> dict[str, Any]:
        """Return what must be equal in two environments that exchange states."""
        game = self.game
        files = {
            name: hashlib.sha256(file.content.encode()).hexdigest()[:16] for name, file in game.data.items()
        }
        return {
            "name": game.name,
            "options": {**game.option_values, **files},
            "data": game.data_digest,
            "build": (game.state_dtype.names or ("",))[-1],
        }


_IN_PROGRESS = (
    "states",
    "_observation",
    "_mask",
    "_seed",
    "_episode",
    "_dealt",
    "agents",
    "agent_selection",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
    "infos",
    "_skip_agent_selection",
    "_decisions",
)


def _shown(value: object) -> str:
    """Return `repr(value)`, in which different types differ; "" if there is none."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return ""


def _differing(found: Any, own: dict[str, Any]) -> list[str]:
    """Return in words what of `own` differs in `found`, options by their names."""
    other = found if isinstance(found, dict) else {}
    words = []
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(other.get(key), dict):
            words += _differing(other[key], value)
        elif _shown(other.get(key)) != _shown(value):
            words.append(f"{key} {short(other.get(key))}, here {short(value)}")
    return words


def _checksum(state: dict[str, Any]) -> str:
    """Digest of a game in progress: which keys and values it has, arrays by type, shape and content."""
    digest = hashlib.sha256()
    for name in _IN_PROGRESS:
        value = state[name]
        if isinstance(value, np.ndarray):
            digest.update(f"{name} {value.dtype} {value.shape}".encode() + value.tobytes())
        else:
            digest.update(f"{name} {value!r}".encode())
    return digest.hexdigest()


env: Callable[..., GardenEnv] = GardenEnv


def module_env(game: type[Game], module: str) -> Callable[..., GardenEnv]:
    """Return what a module such as `mars_v0` calls `env`: `GardenEnv` for one game.

    Args:
        game: the game's class.
        module: name of the module.

    Raises:
        ValueError: unless the module's name ends with the game's version.
    """
    if not module.endswith(f"_v{game.version}"):
        raise ValueError(f"{module} must end with _v{game.version}, the version of {game.__name__}")
    return functools.partial(GardenEnv, game)
