"""TorchRL environments: all seats of many games (`BatchEnv`), or one learner's seat in each (`LearnerEnv`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner, Opponents, Seat, Weights
from garden_core.checks import as_seed
from garden_core.registry import AnyGame, as_game


class _Env(EnvBase):
    """Base class of both environments.

    Args:
        games: the games, without autoreset.
        seats: name and permanent array of the observing seat in each row, int64 (N,).
        num_rewards: number of rewards per row.
        device: device of the tensors.
    """

    def __init__(
        self,
        games: Batch | Learner,
        seats: dict[str, np.ndarray],
        num_rewards: int,
        device: torch.device | str | None,
    ) -> None:
        game, n = games.game, (games.num_envs,)
        super().__init__(device=device, batch_size=torch.Size(n))
        self.game, self.num_envs, self.games = game, games.num_envs, games
        self._seats = seats
        self._seed: int | None = None
        bits = {"dtype": torch.bool, "device": self.device}
        self.observation_spec = Composite(
            observation=Bounded(0, 127, (*n, *game.observation_shape), self.device, torch.int8),
            action_mask=Binary(game.num_actions, (*n, game.num_actions), **bits),
            **{name: Categorical(game.num_players, n, self.device, torch.int64) for name in seats},
            shape=n,
            device=self.device,
        )
        self.action_spec = Categorical(game.num_actions, n, self.device, torch.int64)
        self.reward_spec = Unbounded((*n, num_rewards), self.device, torch.float32)
        end = {name: Binary(1, (*n, 1), **bits) for name in ("done", "terminated", "truncated")}
        self.full_done_spec = Composite(**end, shape=n, device=self.device)

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        self.games.reset(self._seed, _row_mask(tensordict, "_reset") if self.games.dealt else None)
        self._seed = None
        return self._shown()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        stepped = ~(self.games.terminated | self.games.truncated)
        partial = _row_mask(tensordict, "_step")
        if partial is not None:
            stepped &= partial
        rows = np.flatnonzero(stepped)
        self.games.step(tensordict["action"].cpu().numpy()[rows], rows)
        shown = self._shown()
        rewards = np.where(stepped[:, None], self.games.rewards.reshape(self.num_envs, -1), np.float32(0))
        shown["reward"] = torch.from_numpy(rewards).to(self.device)
        return shown

    def _shown(self) -> TensorDictBase:
        games = self.games
        terminated, truncated = games.terminated[:, None], games.truncated[:, None]
        arrays = {
            "observation": games.observation,
            "action_mask": games.action_mask.astype(np.bool_),
            **self._seats,
            "done": terminated | truncated,
            "terminated": terminated,
            "truncated": truncated,
        }
        tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        return TensorDict(tensors, self.batch_size).to(self.device)

    def rand_action(self, tensordict: TensorDictBase | None = None) -> TensorDictBase:
        """Write a uniformly random legal action for each row under "action"."""
        spec = self.action_spec.clone()
        if tensordict is None:
            tensordict = TensorDict({}, self.batch_size, device=self.device)
        mask = tensordict.get("action_mask", None)
        if mask is not None:
            spec.update_mask(mask)
        return tensordict.set("action", spec.rand())

    def _set_seed(self, seed: int | None) -> None:
        self._seed = None if seed is None else int(as_seed(seed))


def _row_mask(tensordict: TensorDictBase | None, key: str) -> Any:
    """Return a mask of rows, bool (N,), or None if there is none."""
    mask = None if tensordict is None else tensordict.get(key, None)
    return None if mask is None else mask.reshape(-1).cpu().numpy()


class BatchEnv(_Env):
    """Many games with the views of the players to move, as `garden_core.Batch`.

    Keys, for N games: `observation`, int8 `(N, *game.observation_shape)`; `action_mask`, bool (N, num_actions), all true in
    a row that is over; `current_player`, int64 (N,); `action`, int64 (N,); `reward`, float32 (N, num_players), each seat's
    reward; `done`, `terminated` and `truncated` (by the cap on decisions), bool (N, 1). A row that is over ignores actions
    until its reset; `rollout` and collectors reset it automatically. `set_seed` seeds the next reset.

    Args:
        game: a game, a Game class or the name of an installed game.
        num_envs: number of games N.
        threads: maximum number of threads that play the games (`garden_core.Batch`).
        device: device of the tensors; the games run on the CPU.
        **options: the game's options.

    Raises:
        TypeError, ValueError: for options as the game does; at a step, for an illegal action, and nothing changes.

    Example:
        >>> from garden_core.interfaces import BatchEnv
        >>> env = BatchEnv("cacti", num_envs=4)
        >>> rollout = env.rollout(3)
        >>> rollout["observation"].shape
        torch.Size([4, 3, 113])
    """

    def __init__(
        self,
        game: AnyGame,
        num_envs: int,
        threads: int = 1,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        made = as_game(game, options)
        games = Batch(made, num_envs, autoreset=False, threads=threads)
        super().__init__(games, {"current_player": games.current_player}, made.num_players, device)


class LearnerEnv(_Env):
    """Many games with one learner's seat in each; opponents play inside `step`, as in `garden_core.batch.learner.Learner`.

    Keys as in `BatchEnv`, but with the learner's view, its own reward, float32 (N, 1), and its seat, `seat`, int64 (N,). A
    game cut at the cap is scored and terminated.

    Args:
        game, num_envs, threads, device, options: as in `BatchEnv`.
        opponents, weights, seat, illegal: as in `garden_core.batch.learner.Learner`.

    Raises:
        TypeError, ValueError: for options as the game and the learner do.

    Example:
        >>> from garden_core.interfaces import LearnerEnv
        >>> env = LearnerEnv("cacti", num_envs=4, opponents="greedy")
        >>> env.rollout(3)["next", "reward"].shape
        torch.Size([4, 3, 1])
    """

    def __init__(
        self,
        game: AnyGame,
        num_envs: int,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        illegal: str = "raise",
        threads: int = 1,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        made = as_game(game, options)
        games = Learner(made, num_envs, opponents, weights, seat, "disabled", threads, illegal)
        super().__init__(games, {"seat": games.seats}, 1, device)
