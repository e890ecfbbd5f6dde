"""TorchRL environments: all seats of many games (`BatchEnv`), and one learner's seat in each (`LearnerEnv`)."""

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
        games: without autoreset.
        seats: by name, the lasting array of who is shown in each row, int64 (N,).
        payees: how many seats are paid.
        device: of the tensors.
    """

    def __init__(
        self,
        games: Batch | Learner,
        seats: dict[str, np.ndarray],
        payees: int,
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
        self.reward_spec = Unbounded((*n, payees), self.device, torch.float32)
        end = {name: Binary(1, (*n, 1), **bits) for name in ("done", "terminated", "truncated")}
        self.full_done_spec = Composite(**end, shape=n, device=self.device)

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        rows = None if tensordict is None else tensordict.get("_reset", None)
        if rows is None or not self.games.dealt:
            self.games.reset(self._seed)
        else:
            self.games.reset(self._seed, rows=rows.reshape(-1).cpu().numpy())
        self._seed = None
        return self._shown()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        going_on = ~(self.games.terminated | self.games.truncated)
        asked = tensordict.get("_step", None)  # the rows to step, where the caller names some
        if asked is not None:
            going_on &= asked.reshape(-1).cpu().numpy()
        rows = np.flatnonzero(going_on)
        self.games.step(tensordict["action"].cpu().numpy()[rows], rows)
        shown = self._shown()
        paid = np.where(going_on[:, None], self.games.rewards.reshape(self.num_envs, -1), 0)
        shown["reward"] = torch.from_numpy(paid.astype(np.float32)).to(self.device)
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


class BatchEnv(_Env):
    """Many games, one in each row, seen by the player to move, as `garden_core.Batch` has them.

    Keys, for N games: `observation`, int8 `(N, *game.observation_shape)`; `action_mask`, bool (N, num_actions), all true in
    a row that is over; `current_player`, int64 (N,); `action`, int64 (N,); `reward`, float32 (N, num_players), what each
    seat was paid; `done`, `terminated` and `truncated` (by the cap on decisions), bool (N, 1). A row that is over waits for
    its reset, and its action is ignored; `rollout` and collectors reset it automatically. `set_seed` seeds the next reset.

    Args:
        game: a game, a Game class or the name of an installed game.
        num_envs: number of games N.
        threads: largest number of threads that play the games (`garden_core.Batch`).
        device: of the tensors; the games are played on the CPU.
        **options: the game's options.

    Raises:
        TypeError, ValueError: for options as the game does; at a step, for an illegal action: nothing has changed then.
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
    """Many games, one learner's seat in each; opponents play inside `step`, as `garden_core.batch.learner.Learner` has them.

    Keys as in `BatchEnv`, but with the learner's view, its own reward, float32 (N, 1), and its seat, `seat`, int64 (N,). A
    game cut at the cap has paid its outcome and is terminated.

    Args:
        game, num_envs, threads, device, options: as in `BatchEnv`.
        opponents, weights, seat, illegal: as in `garden_core.batch.learner.Learner`.

    Raises:
        TypeError, ValueError: for options as the game and the learner do.
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
