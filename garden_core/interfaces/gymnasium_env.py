"""Gymnasium environments of one learner's seat; opponents play inside `step`. Both wrap `learner.Learner`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from garden_core.batch.games import games_of
from garden_core.batch.learner import Learner, Opponents, Seat, Weights
from garden_core.checks import as_integer, as_seed, as_seeds, check_choice, require_reset, short
from garden_core.game import Game
from garden_core.interfaces.common import check_render_mode, render_row, spaces_of
from garden_core.recorded.recorder import Folder, Recorder
from garden_core.registry import AnyGame, as_game
from garden_core.render.display import Display

_METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 2}


def _recording(games: Sequence[Game], record: Folder | None) -> Callable[..., None] | None:
    """Return what a `Learner` calls at the end of each game to record it in a folder; None for none."""
    return None if record is None else Recorder(games, record).save


class Env(gymnasium.Env):
    """One game from one seat: `gymnasium.make("garden/Mars-v0", opponents="greedy", seat="random")`.

    Observation: int8, `game.observation_shape`. `info["action_mask"]` and `action_masks()` are the mask of legal actions,
    int8 (num_actions,); `info["seat"]` is the learner's seat. A step lasts until the learner's next turn; its reward is the
    sum of the seat's rewards in between. A game cut at the cap is scored and reported as terminated, with
    `info["capped"]`.

    Args:
        game: a game, a Game class or the name of an installed game.
        opponents: "random", "greedy", an agent's name ("mcts:100", "network", …) if the agents are installed, a policy, or
            a sequence of these to sample from (`garden_core.batch.learner`).
        weights: relative sampling weights of the opponents; equal if None.
        seat: the learner's seat, or "random" to sample it for each game.
        illegal: "raise" a ValueError at an illegal action, which changes nothing; or "terminate" the game with reward -1,
            for algorithms without action masks.
        render_mode: "ansi" (a str), "rgb_array" (uint8 (H, W, 3)), "human" or None. "human" shows each reset and step in a
            window (pygame, the extra `human`) or below the cell of a notebook, at most `metadata["render_fps"]` per
            second. A window that the user closes stays closed until `close`, and the game continues.
        record: a folder, created if missing, for a replay of each game (`garden_core.recorded.replay`), game-000001.json etc.,
            including games that a reset or `close` cuts short. None for no replays.
        **options: the game's options.

    Raises:
        TypeError, ValueError: for options as the game and the learner do.

    Example:
        >>> from garden_core.interfaces import Env
        >>> env = Env("cacti", opponents="greedy")
        >>> observation, info = env.reset(seed=42)
        >>> observation.shape, info["action_mask"].shape
        ((113,), (35,))
    """

    metadata = _METADATA

    def __init__(
        self,
        game: AnyGame,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        illegal: str = "raise",
        render_mode: str | None = None,
        record: Folder | None = None,
        **options: Any,
    ) -> None:
        self.game = as_game(game, options)
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.metadata = dict(_METADATA)
        self.observation_space, self.action_space = spaces_of(self.game)
        self.learner = Learner(
            self.game,
            1,
            opponents,
            weights,
            seat,
            "disabled",
            illegal=illegal,
            on_game_end=_recording([self.game], record),
        )
        self._display = Display(self.game.title)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal game 0 of `seed`, or without a seed the next game; play up to the learner's first turn.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1, or an invalid answer of an opponent.
            ImportError: if a window is needed and pygame is missing.
            OSError: if a replay cannot be written.
        """
        number = None if seed is None else int(as_seed(seed))
        self.learner.reset(number)
        super().reset(seed=number)
        if self.render_mode == "human":
            self.render()
        return self.learner.observation[0].copy(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take a legal action.

        Raises:
            ValueError: after the end, or for an illegal action unless that ends the game; it names the label, and nothing
                changes.
            RuntimeError: before the first reset.
            OSError: if a replay cannot be written; the step is complete.
        """
        learner = self.learner
        learner.step(np.array([as_integer(action, "an action")]))
        if self.render_mode == "human":
            self.render()
        over = bool(learner.terminated[0])
        return learner.observation[0].copy(), float(learner.rewards[0]), over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """Return the mask of legal actions, int8 (num_actions,), for sb3-contrib.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "action_masks")
        return self.learner.action_mask[0].copy()

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain JSON values.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "snapshot")
        return self.game.snapshot(self.learner.batch.states[0])

    def render(self) -> Any:
        """Return the view of the learner's seat, as text or as pixels with the last decision marked.

        With "human" show it and return None; resets and steps do so automatically. Without a render mode warn and return
        None.

        Raises:
            RuntimeError: before the first reset.
            ImportError: if a window is needed and pygame is missing.
        """
        return render_row(self.learner, 0, self.render_mode, self._display, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, and record an unfinished game if games are recorded.

        Raises:
            OSError: if a replay cannot be written.
        """
        self._display.close()
        self.learner.close()

    def _info(self) -> dict[str, Any]:
        learner = self.learner
        return {
            "action_mask": self.action_masks(),
            "seat": int(learner.seats[0]),
            "capped": bool(learner.capped[0]),
        }


class VectorEnv(gymnasium.vector.VectorEnv):
    """Many games, one learner's seat in each: `gymnasium.make_vec("garden/Mars-v0", num_envs=1024, ...)`.

    Equivalent to Gymnasium's `SyncVectorEnv` over `Env`, in all three autoreset modes. `infos["action_mask"]` is int8
    (N, num_actions): all ones if the game is over, the legal actions if `max_episode_steps` truncated it; `infos["seat"]`
    and `infos["capped"]` have one entry per row. With SAME_STEP, `infos["final_obs"]` and `infos["final_info"]` describe
    the last positions of the finished rows, which `infos["_final_obs"]` marks. With DISABLED,
    `reset(options={"reset_mask": mask})` deals new games in the rows of the bool mask (N,).

    Args:
        game: as in `Env`, or a list of variants, of which each game has one (docs/many-variants.md): `infos["variant"]` is its index.
        num_envs: number of games N.
        autoreset_mode: an AutoresetMode, or its value "NextStep", "SameStep" or "Disabled".
        copy: return copies of observations and masks; otherwise the next step overwrites them.
        threads: maximum number of threads that play the games (`garden_core.Batch`).
        max_episode_steps: truncate a game after this many decisions of the learner, as Gymnasium's TimeLimit; None for no
            limit.
        render_mode: "ansi", "rgb_array" or None; a picture or text of each row.
        opponents, weights, seat, illegal, record, options: as in `Env`. Replays are numbered in the order in which games
            end, and by row within a step.

    Example:
        >>> import gymnasium
        >>> import numpy as np
        >>> from garden_core.interfaces import register_environments
        >>> register_environments()
        >>> envs = gymnasium.make_vec("garden/Cacti-v0", num_envs=4)
        >>> observations, infos = envs.reset(seed=1)
        >>> actions = infos["action_mask"].argmax(axis=1)
        >>> envs.step(actions)[0].shape
        (4, 113)
    """

    metadata = _METADATA | {"render_modes": ["ansi", "rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        game: AnyGame | Sequence[AnyGame],
        num_envs: int = 1,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        illegal: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        record: Folder | None = None,
        **options: Any,
    ) -> None:
        games = games_of(game, options)
        check_render_mode(render_mode)
        if render_mode == "human":
            raise ValueError(
                "render_mode='human' shows one game, in Env; use 'rgb_array' here, and "
                "gymnasium.wrappers.vector.HumanRendering for a window with all of them"
            )
        if not isinstance(autoreset_mode, AutoresetMode):
            check_choice(autoreset_mode, "autoreset_mode", ("SameStep", "NextStep", "Disabled"))
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = VectorEnv.metadata | {"autoreset_mode": self.autoreset_mode}
        self.learner = Learner(
            games,
            num_envs,
            opponents,
            weights,
            seat,
            self.autoreset_mode.name.lower(),
            threads,
            illegal,
            max_episode_steps,
            _recording(games, record),
        )
        self.num_envs = self.learner.num_envs
        self.render_mode = render_mode
        self.copy = copy
        self.single_observation_space, self.single_action_space = spaces_of(games[0])
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def game(self) -> Game:
        """The game; raises ValueError if there are several variants, which are `learner.batch.games`."""
        return self.learner.game

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games: row i, game 0 of `seed`; a sequence has one seed per row.

        Raises:
            ValueError: for a reset mask that is not bool (num_envs,), a seed outside 0 … 2**64 - 1, the wrong number of
                seeds, or options that are no dict.
            OSError: if a replay cannot be written.
        """
        if not (options is None or isinstance(options, dict)):
            raise ValueError(f"options must be a dict, not {short(options)}")
        rows = (options or {}).get("reset_mask")
        if rows is not None:
            rows = np.asarray(rows)
            if rows.dtype != np.bool_ or rows.shape != (self.num_envs,):
                raise ValueError(f"reset_mask must be bool ({self.num_envs},), not {rows.dtype} {rows.shape}")
        if seed is not None and not isinstance(seed, int | np.integer) and rows is not None:
            seed = as_seeds(seed, self.num_envs)[rows]
        self.learner.reset(seed, rows)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        return self._own(self.learner.observation), self._infos()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one legal action in every row.

        Raises:
            ValueError: for an illegal action unless that ends the game, or with DISABLED for a row that is over; it names
                the row, and nothing changes.
            RuntimeError: before the first reset.
            OSError: if a replay cannot be written; the step is complete.
        """
        learner = self.learner
        learner.step(actions)
        terminated, truncated = learner.terminated.copy(), learner.truncated.copy()
        over = terminated | truncated
        infos = self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            observations = np.full(self.num_envs, None, object)
            for row in np.flatnonzero(over):
                observations[row] = learner.final_observation[row].copy()
            final_info = {
                "action_mask": np.where(over[:, None], learner.final_action_mask, np.int8(0)),
                "seat": np.where(over, learner.final_seats, 0),
                "capped": learner.capped.copy(),
            }
            if len(learner.batch.games) > 1:
                final_info["variant"] = np.where(over, learner.batch.last_states["variant"], 0)
            infos |= _in_rows({"final_obs": observations, "final_info": _in_rows(final_info, over)}, over)
            infos["capped"] &= ~over
        rewards = learner.rewards.astype(np.float64)
        return self._own(learner.observation), rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """Return the masks of legal actions, int8 (N, num_actions).

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "action_masks")
        return self._own(self.learner.action_mask)

    def render(self) -> tuple[Any, ...] | None:
        """Return a text, or a picture with the last decision marked, of each row from its learner's seat.

        Without a render mode warn and return None.

        Raises:
            RuntimeError: before the first reset.
        """
        rows = range(self.num_envs if self.render_mode else 1)  # without a mode, one warning is enough
        frames = tuple(render_row(self.learner, row, self.render_mode) for row in rows)
        return frames if self.render_mode else None

    def close_extras(self, **kwargs: Any) -> None:
        """Record the unfinished games if games are recorded; `close` calls this.

        Raises:
            OSError: if a replay cannot be written.
        """
        self.learner.close()

    def __del__(self) -> None:
        """Do not call `close`, as Gymnasium 1.1 does, because nothing can be recorded while Python shuts down."""

    def _own(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def _infos(self) -> dict[str, Any]:
        learner = self.learner
        infos = {
            "action_mask": self._own(learner.action_mask),
            "seat": learner.seats.copy(),
            "capped": learner.capped.copy(),
        }
        if len(learner.batch.games) > 1:
            infos["variant"] = learner.batch.variant.copy()
        return _in_rows(infos, np.ones(self.num_envs, np.bool_))


def _in_rows(infos: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Return `infos` with Gymnasium's mask for each entry: `rows`, bool (N,), under its name after "_"."""
    return infos | {f"_{name}": rows.copy() for name in infos}
