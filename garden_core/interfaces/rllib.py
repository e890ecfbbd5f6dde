"""RLlib environments: all seats of one game (`MultiAgentGame`), and one learner's seat in many games (`LearnerVectorEnv`).

Observations have the form of RLlib's action-masking modules: dicts of `observations`, float32 of the game's shape, and
`action_mask`, float32 (num_actions,). A game cut at the cap on decisions is scored and reported as terminated.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner
from garden_core.checks import as_integer, check_illegal, short
from garden_core.interfaces.common import masked_space
from garden_core.registry import as_game


class MultiAgentGame(MultiAgentEnv):
    """One game; agents are `player_0` … in seating order, and the player to move receives an observation.

    Every step returns rewards for all agents. At the end all agents receive their last observation.

    Args:
        config: "game" (a game, a Game class or a name); "illegal", the effect of an illegal action: "raise" a ValueError
            (default) and change nothing, or "terminate" the game with reward -1 for the offender and 0 for the others; and
            the game's options.

    Raises:
        KeyError: if "game" is missing.
        TypeError, ValueError: for options as the game does; at a step, for an action of any agent but the player to move.

    Example:
        >>> from garden_core.interfaces import MultiAgentGame
        >>> env = MultiAgentGame({"game": "cacti"})
        >>> observations, infos = env.reset(seed=1)
        >>> for agent, observation in observations.items():
        ...     print(agent, observation["observations"].shape, observation["action_mask"].shape)
        player_0 (113,) (35,)
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        options = dict(config or {})
        self.illegal = options.pop("illegal", "raise")
        check_illegal(self.illegal)
        self.game = as_game(options.pop("game"), options)
        self.batch = Batch(self.game, 1, autoreset=False)
        self.agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self.possible_agents = list(self.agents)
        space = masked_space(self.game, "observations", np.float32)
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(self.game.num_actions))
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal game 0 of `seed`, or without a seed the next game."""
        self.batch.reset(seed)
        return self._shown(), {}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Take the action of the player to move, the only one in `action_dict`."""
        agent = self.possible_agents[self.batch.current_player[0]]
        if set(action_dict) != {agent}:
            raise ValueError(f"only {agent} can move now, not {short(sorted(action_dict))}")
        action = as_integer(action_dict[agent], f"{agent}: an action")
        mask = self.batch.action_mask[0]
        if self.illegal == "terminate" and not (0 <= action < len(mask) and mask[action]):
            rewards, over = dict.fromkeys(self.possible_agents, 0.0) | {agent: -1.0}, True
        else:
            self.batch.step([action])
            rewards = dict(zip(self.possible_agents, self.batch.rewards[0].tolist(), strict=True))
            over = bool(self.batch.over[0])
        ends = dict.fromkeys([*self.possible_agents, "__all__"] if over else ["__all__"], over)
        return self._shown(over), rewards, ends, {"__all__": False}, {}

    def _shown(self, over: bool = False) -> dict[str, Any]:
        batch = self.batch
        if not over:
            agent = self.possible_agents[batch.current_player[0]]
            return {agent: _as_dict(batch.observation[0], batch.action_mask[0])}
        return {
            agent: _as_dict(batch.observe(seat)[0], batch.action_mask[0])
            for seat, agent in enumerate(self.possible_agents)
        }


class LearnerVectorEnv(gymnasium.vector.VectorEnv):
    """Thousands of games in one runner, with one learner's seat in each.

    Configure RLlib with `gym_env_vectorize_mode="vector_entry_point"` and this class as the environment; RLlib adds
    "num_envs" to `config`.

    Args:
        config: "game"; "num_envs"; "opponents", "weights", "seat", "threads" and "illegal" as in
            `garden_core.batch.learner.Learner`; and the game's options.

    Raises:
        KeyError: if "game" is missing.
        TypeError, ValueError: for options as the game and the learner do.

    Example:
        >>> from garden_core.interfaces import LearnerVectorEnv
        >>> envs = LearnerVectorEnv({"game": "cacti", "num_envs": 4, "opponents": "greedy"})
        >>> observations, infos = envs.reset(seed=1)
        >>> observations["observations"].shape
        (4, 113)
    """

    def __init__(self, config: dict[str, Any]) -> None:
        options = dict(config)
        num_envs = options.pop("num_envs", 1)
        names = {"opponents", "weights", "seat", "threads", "illegal"} & options.keys()
        how = {name: options.pop(name) for name in names}
        self.game = as_game(options.pop("game"), options)
        self.learner = Learner(self.game, num_envs, autoreset="next_step", **how)
        self.num_envs = self.learner.num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = masked_space(self.game, "observations", np.float32)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Deal new games: row i, game 0 of `seed`; without a seed each row's next game."""
        self.learner.reset(seed)
        return self._shown(), {}

    def step(
        self, actions: Any
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one legal action in every row; deal the next game in rows that are over."""
        learner = self.learner
        learner.step(np.asarray(actions))
        never = np.zeros(self.num_envs, np.bool_)
        return self._shown(), learner.rewards.astype(np.float64), learner.terminated.copy(), never, {}

    def _shown(self) -> dict[str, np.ndarray]:
        return _as_dict(self.learner.observation, self.learner.action_mask)


def _as_dict(observation: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    return {"observations": observation.astype(np.float32), "action_mask": mask.astype(np.float32)}
