"""Stable-Baselines3 VecEnv of a learner's seat, for PPO and, with action masks, sb3-contrib's MaskablePPO."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from garden_core.batch.games import games_of
from garden_core.batch.learner import Learner, Opponents, Seat, Weights
from garden_core.checks import as_rows, as_seed, require_reset
from garden_core.game import Game
from garden_core.interfaces.common import check_render_mode, render_row, spaces_of
from garden_core.registry import AnyGame


class GardenVecEnv(VecEnv):
    """Many games, one learner's seat in each, as a Stable-Baselines3 VecEnv.

    A finished game's info contains `terminal_observation`, `terminal_action_mask` (bool (num_actions,)), `episode` (total
    reward "r", learner's decisions "l", seconds "t", as from Monitor), `seat`, `opponents` (index into the pool for each
    seat; ignore the learner's own entry) and `capped`. A game cut at the cap is terminated, so `TimeLimit.truncated` is
    only set if `max_steps` ended the game.

    Use `VecNormalize` with `norm_obs=False`: Stable-Baselines3 stores observations in the space's dtype, int8, which would
    drop the decimals.

    Args:
        game: a game, a Game class or the name of an installed game; or a list of variants, of which each game has one
            (docs/many-variants.md), with its index in the finished game's info, "variant".
        num_envs: number of games N.
        opponents, weights, seat: as in `garden_core.batch.learner.Learner`.
        seed: seed of the first reset; None for a random one.
        render_mode: "rgb_array" for `get_images`, or None.
        threads, illegal, max_steps: as in `garden_core.batch.learner.Learner`.
        **options: the game's options.

    Raises:
        TypeError, ValueError: for options as the game and the learner do.

    Example:
        >>> from garden_core.interfaces import GardenVecEnv
        >>> env = GardenVecEnv("cacti", num_envs=8, opponents=["random", "greedy"], seed=42)
        >>> env.reset().shape, env.action_masks().shape
        ((8, 113), (8, 35))
    """

    def __init__(
        self,
        game: AnyGame | Sequence[AnyGame],
        num_envs: int,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        seed: int | None = None,
        render_mode: str | None = None,
        threads: int = 1,
        illegal: str = "raise",
        max_steps: int | None = None,
        **options: Any,
    ) -> None:
        games = games_of(game, options)
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.learner = Learner(
            games, num_envs, opponents, weights, seat, "same_step", threads, illegal, max_steps
        )
        self._actions: tuple[Any, ...] = ()  # the argument of step_async until step_wait takes it
        self._returns = np.zeros(self.learner.num_envs)
        self._lengths = np.zeros(self.learner.num_envs, np.int64)
        self._start = time.time()
        super().__init__(self.learner.num_envs, *spaces_of(games[0]))
        self._seed: int | None
        self.seed(seed)

    @property
    def game(self) -> Game:
        """The game; raises ValueError if there are several variants, which are `learner.batch.games`."""
        return self.learner.game

    def reset(self) -> np.ndarray:
        """Deal new games and return the first observations, int8 `(N, *game.observation_shape)`."""
        self.learner.reset(self._seed)
        self._seed = None
        self._returns[:] = 0
        self._lengths[:] = 0
        return self.learner.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Store the actions for `step_wait`."""
        self._actions = (actions,)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take the actions; return observations, rewards, dones and infos.

        Raises:
            ValueError: for actions as `Learner.step`; nothing changes.
            RuntimeError: before the first reset, or without actions by `step_async`.
        """
        learner = self.learner
        if not self._actions:
            raise RuntimeError("call step_async() before step_wait()")
        (actions,), self._actions = self._actions, ()
        learner.step(actions)
        self._returns += learner.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        over = learner.terminated | learner.truncated
        for row in np.flatnonzero(over):
            infos[row] = {
                "terminal_observation": learner.final_observation[row].copy(),
                "terminal_action_mask": learner.final_action_mask[row].astype(np.bool_),
                "TimeLimit.truncated": bool(learner.truncated[row] and not learner.terminated[row]),
                "episode": {
                    "r": float(self._returns[row]),
                    "l": int(self._lengths[row]),
                    "t": round(time.time() - self._start, 6),
                },
                "seat": int(learner.final_seats[row]),
                "opponents": learner.final_drawn[row].tolist(),
                "capped": bool(learner.capped[row]),
            }
            if len(learner.batch.games) > 1:
                infos[row]["variant"] = int(learner.batch.last_states["variant"][row])
        self._returns[over] = 0
        self._lengths[over] = 0
        return learner.observation.copy(), learner.rewards.copy(), over, infos

    def action_masks(self) -> np.ndarray:
        """Return the masks of legal actions, bool (N, num_actions).

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "action_masks")
        return self.learner.action_mask.astype(np.bool_)

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset; row i, game e then has the seed `game_seed(seed, i, e)`.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1.
        """
        self._seed = None if seed is None else int(as_seed(seed))
        return [self._seed] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the attribute once per row; all rows share it."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute that all rows share."""
        self._chosen(indices)
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method; the result of `action_masks` is split by row, any other is shared by all rows."""
        rows = self._chosen(indices)
        value = getattr(self, method_name)(*args, **kwargs)
        return [value[row] for row in rows] if method_name == "action_masks" else [value] * len(rows)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return for each row whether it acts like a wrapper: only like Monitor, whose "episode" is in the infos.

        SB3's `evaluate_policy` then takes rewards and lengths from there, also under VecNormalize.
        """
        return [wrapper_class is Monitor] * len(self._chosen(indices))

    def render(self, mode: str | None = None) -> np.ndarray | None:
        """Return one picture of all rows; without a render mode warn and return None.

        Raises:
            ValueError: for a render mode without pictures.
            RuntimeError: before the first reset.
        """
        require_reset(self.learner.dealt, "render")
        if self.render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode={self.render_mode!r} is not available here; use 'rgb_array'")
        return super().render(mode)

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return a picture of each row from its learner's seat, with the last decision marked; None without "rgb_array".

        Raises:
            RuntimeError: before the first reset, with "rgb_array".
        """
        if self.render_mode != "rgb_array":
            return [None] * self.num_envs
        frames: Any = [render_row(self.learner, row, "rgb_array") for row in range(self.num_envs)]
        return frames

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        """Return the rows `indices`, all if None; raise ValueError or IndexError for invalid ones."""
        return as_rows(range(self.num_envs) if indices is None else indices, self.num_envs, "named").tolist()
