"""Gymnasium environments: one learner's seat, opponents play inside `step`. Both wrap `learner.Learner`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from garden_core.batch.learner import Learner, Opponents, Seat, Weights
from garden_core.checks import as_integer, as_seed, as_seeds, check_choice, require_reset, short
from garden_core.files.recorder import Folder
from garden_core.interfaces.common import check_render_mode, render_row, spaces_of
from garden_core.registry import AnyGame, as_game
from garden_core.render.display import Display

_METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 2}


class Env(gymnasium.Env):
    """One game seen from one seat: `gymnasium.make("garden/Mars-v0", opponents="greedy", seat="random")`.

    Observation: int8, `game.observation_shape`. The mask of legal actions, int8 (num_actions,), is
    `info["action_mask"]` and `action_masks()`; `info["seat"]` is the learner's seat. A step lasts until the
    learner is to move again and pays all that its seat got in between. A game cut at the cap has paid its
    outcome and is reported as terminated, with `info["capped"]`.

    Args:
        game: a game, a Game class or the name of an installed game.
        opponents: "random", "greedy", any agent by name ("mcts:100", "network", …) where the agents are installed, a
            policy, or a sequence of these to draw from (`garden_core.batch.learner`).
        weights: how often each of the opponents is drawn; equally if None.
        seat: the learner's seat, or "random" to draw it for each game.
        illegal: "raise" a ValueError at an illegal action, which changes nothing; or "terminate" the game with reward -1,
            for algorithms that know no masks.
        render_mode: "ansi" (a str), "rgb_array" (uint8 (H, W, 3)), "human" or None. "human" shows each reset and step in a
            window (pygame, the extra `human`) or below the cell of a notebook, `metadata["render_fps"]` a second at most.
            A window that its user closes stays closed until `close`, and the game goes on.
        record: a folder, made if missing, that gets a replay of each game (`garden_core.files.replay`), as game-000001.json and
            so on; a game that a reset or `close` cuts short as far as it went. None for no replays.
        **options: the game's options.

    Raises:
        TypeError, ValueError: for options as the game and the learner do.
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
            self.game, 1, opponents, weights, seat, "disabled", illegal=illegal, record=record
        )
        self._display = Display(self.game.title)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal game 0 of `seed`, or without a seed the next game; play up to the learner's first decision.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1, or an opponent that answers wrongly.
            ImportError: if there is to be a window, and no pygame.
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
            ValueError: after the end, or for an illegal action unless that ends the game; it names the label, and
                nothing has changed.
            RuntimeError: before the first reset.
            OSError: if a replay cannot be written; the step was taken.
        """
        learner = self.learner
        require_reset(learner.dealt, "step")
        learner.step(np.array([as_integer(action, "an action")]))
        if self.render_mode == "human":
            self.render()
        over = bool(learner.terminated[0])
        return learner.observation[0].copy(), float(learner.rewards[0]), over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """Return the mask of legal actions, int8 (num_actions,), as sb3-contrib asks for it.

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
        """Return what the learner's seat may see, as text or as pixels with the last decision marked.

        With "human" it is shown, which resets and steps do automatically; None is returned. Without a render mode None,
        with a warning.

        Raises:
            RuntimeError: before the first reset.
            ImportError: if there is to be a window, and no pygame.
        """
        require_reset(self.learner.dealt, "render")
        return render_row(self.learner, 0, self.render_mode, self._display, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, and record the game in play as far as it went, where there are such.

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

    As Gymnasium's `SyncVectorEnv` over `Env`, in all three autoreset modes. `infos["action_mask"]` is int8
    (N, num_actions): all ones where the game is over, what was legal where `max_episode_steps` has cut it;
    `infos["seat"]` and `infos["capped"]` have an entry a row. With SAME_STEP, `infos["final_obs"]` and
    `infos["final_info"]` are of the finished rows' last positions, and `infos["_final_obs"]` says which rows these are.
    With DISABLED, `reset(options={"reset_mask": mask})` deals new games in the rows of the bool mask (N,).

    Args:
        game: as in `Env`.
        num_envs: number of games N.
        autoreset_mode: an AutoresetMode, or its value "NextStep", "SameStep" or "Disabled".
        copy: return copies; without, observations and masks are arrays that the next step overwrites.
        threads: largest number of threads that play the games (`garden_core.Batch`).
        max_episode_steps: truncate a game after so many decisions of the learner, as Gymnasium's TimeLimit does; None
            for never.
        render_mode: "ansi", "rgb_array" or None; a picture or text of each row.
        opponents, weights, seat, illegal, record, options: as in `Env`. Replays are numbered in the order in which games
            end, those of one step row by row.
    """

    metadata = _METADATA | {"render_modes": ["ansi", "rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        game: AnyGame,
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
        self.game = as_game(game, options)
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
            self.game,
            num_envs,
            opponents,
            weights,
            seat,
            self.autoreset_mode.name.lower(),
            threads,
            illegal,
            max_episode_steps,
            record,
        )
        self.num_envs = self.learner.num_envs
        self.render_mode = render_mode
        self.copy = copy
        self.single_observation_space, self.single_action_space = spaces_of(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games: row i, game 0 of `seed`; a sequence gives each row a seed of its own.

        Raises:
            ValueError: for a reset mask that is not bool (num_envs,), a seed outside 0 … 2**64 - 1, or not as many
                seeds as environments, or options that are no dict.
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
            ValueError: for an illegal action unless that ends the game, or with DISABLED for a row that is over; it
                names the row, and nothing has changed.
            RuntimeError: before the first reset.
            OSError: if a replay cannot be written; the step was taken.
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
        """Return a text, or a picture with the last decision marked, of each row, as its learner's seat may see it.

        None without a render mode, with a warning.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "render")
        rows = range(self.num_envs if self.render_mode else 1)  # without a mode, one warning is enough
        frames = tuple(render_row(self.learner, row, self.render_mode) for row in rows)
        return frames if self.render_mode else None

    def close_extras(self, **kwargs: Any) -> None:
        """Record the games in play as far as they went, where games are recorded; `close` calls it.

        Raises:
            OSError: if a replay cannot be written.
        """
        self.learner.close()

    def __del__(self) -> None:
        """Leave out the `close` of Gymnasium 1.1, which records no game while Python shuts down."""

    def _own(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def _infos(self) -> dict[str, Any]:
        learner = self.learner
        infos = {
            "action_mask": self._own(learner.action_mask),
            "seat": learner.seats.copy(),
            "capped": learner.capped.copy(),
        }
        return _in_rows(infos, np.ones(self.num_envs, np.bool_))


def _in_rows(infos: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Return infos that hold in `rows`, bool (N,), with what Gymnasium adds for each: `rows` under its name after "_"."""
    return infos | {f"_{name}": rows.copy() for name in infos}
