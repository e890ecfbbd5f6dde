"""Games under `jax.jit`: a batch on the host, stepped through one ordered callback for all games at once.

    python examples/jax_callback.py

The policy runs in JAX, the rules in Numba. A callback costs a few hundred microseconds, so use many games. The example trains a
small network by REINFORCE to beat random play, all of it jitted, steps included. Needs jax.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from jax.example_libraries import optimizers
from jax.experimental import io_callback

import garden_core
from garden_core import Learner

Array = jax.Array


@dataclass(frozen=True)
class Arguments:
    """Train a small network by REINFORCE."""

    game: str = "cacti"
    updates: int = 60
    num_envs: int = 512
    steps: int = 64
    """decisions per game and update"""
    learning_rate: float = 3e-3
    entropy: float = 0.02
    hidden: int = 64
    seed: int = 0


class Games:
    """A learner's seat in many games, as a function that JAX can call."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        n, game = learner.num_envs, learner.game
        self.shapes = (
            jax.ShapeDtypeStruct((n, game.observation_size), np.int8),
            jax.ShapeDtypeStruct((n, game.num_actions), np.int8),
            jax.ShapeDtypeStruct((n,), np.float32),
            jax.ShapeDtypeStruct((n,), np.bool_),
        )

    def reset(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Deal; return observations and masks."""
        self.learner.reset(seed)
        return self._shown()[:2]

    def step(self, actions: Array) -> Any:
        """Take an action in every game, inside of jitted code; return observations, masks, rewards and ends."""
        return io_callback(self._step, self.shapes, actions, ordered=True)

    def _step(self, actions: Any) -> tuple[np.ndarray, ...]:
        self.learner.step(np.asarray(actions))
        return self._shown()

    def _shown(self) -> tuple[np.ndarray, ...]:
        learner = self.learner
        flat = learner.observation.reshape(learner.num_envs, -1)
        arrays = (flat, learner.action_mask, learner.rewards, learner.terminated)
        return tuple(array.copy() for array in arrays)


Weights = dict[str, Array]


def new_weights(key: Array, sizes: tuple[int, int, int]) -> Weights:
    """Return the weights of a network with one hidden layer."""
    one, two = jax.random.split(key)
    return {
        "in": jax.random.normal(one, sizes[:2]) / np.sqrt(sizes[0]),
        "bias": jnp.zeros(sizes[1]),
        "out": jax.random.normal(two, sizes[1:]) * 0.01,
    }


def log_probabilities(weights: Weights, observations: Array, masks: Array) -> Array:
    """Return the logarithms of the actions' probabilities, float32 (…, num_actions)."""
    hidden = jax.nn.relu(observations.astype(jnp.float32) / 10 @ weights["in"] + weights["bias"])
    return jax.nn.log_softmax(jnp.where(masks != 0, hidden @ weights["out"], -1e9))


def returns(rewards: Array, ends: Array) -> Array:
    """Return the sum of the rewards from each decision to the end of its game, float32 (steps, N)."""

    def back(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        reward, end = now
        total = reward + jnp.where(end, 0.0, later)
        return total, total

    return jax.lax.scan(back, jnp.zeros_like(rewards[0]), (rewards, ends), reverse=True)[1]


def main(arguments: Arguments) -> float:
    """Train and evaluate; return the share of games won against random play."""
    a = arguments
    game = garden_core.make(a.game)
    games = Games(Learner(game, a.num_envs, "random"))
    adam_state, adam_step, adam_weights = optimizers.adam(a.learning_rate)

    @functools.partial(jax.jit, static_argnames="greedy")
    def play(weights: Weights, shown: Any, key: Array, greedy: bool = False) -> Any:
        def one(carried: Any, key: Array) -> Any:
            observations, masks = carried
            logs = log_probabilities(weights, observations, masks)
            actions = logs.argmax(-1) if greedy else jax.random.categorical(key, logs)
            *after, rewards, ends = games.step(actions)
            return tuple(after), (observations, masks, actions, rewards, ends)

        return jax.lax.scan(one, shown, jax.random.split(key, a.steps))

    @jax.jit
    def update(number: int, state: Any, rollout: Any) -> Any:
        observations, masks, actions, rewards, ends = rollout
        gains = returns(rewards, ends)
        gains = (gains - gains.mean()) / (gains.std() + 1e-6)

        def loss(weights: Weights) -> Array:
            logs = log_probabilities(weights, observations, masks)
            chosen = jnp.take_along_axis(logs, actions[..., None], -1)[..., 0]
            entropy = -(jnp.exp(logs) * jnp.where(masks != 0, logs, 0)).sum(-1).mean()
            return -(chosen * gains).mean() - a.entropy * entropy

        return adam_step(number, jax.grad(loss)(adam_weights(state)), state)

    key = jax.random.PRNGKey(a.seed)
    state = adam_state(new_weights(key, (game.observation_size, a.hidden, game.num_actions)))
    shown = games.reset(a.seed)
    for number in range(a.updates):
        key, sub = jax.random.split(key)
        shown, rollout = play(adam_weights(state), shown, sub)
        state = update(number, state, rollout)
        if number % 25 == 24:
            ends, rewards = np.asarray(rollout[4]), np.asarray(rollout[3])
            print(f"update {number + 1}: won {(rewards[ends] > 0).mean():.1%} of the last games", flush=True)
    jax.block_until_ready(rollout)  # JAX steps the games asynchronously
    _, rollout = play(adam_weights(state), games.reset(a.seed + 1), key, greedy=True)
    ends, rewards = np.asarray(rollout[4]), np.asarray(rollout[3])
    first = ends & (ends.cumsum(0) == 1)  # the first game of each row
    rate = float(((rewards[first] > 0) + (rewards[first] == 0) / 2).mean())
    print(f"against random play: {rate:.1%} of {first.sum()} games")
    return rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
