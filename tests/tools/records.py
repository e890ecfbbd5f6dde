"""Records of whole games, for comparison between processes and interfaces."""

import hashlib

import numpy as np

from garden_core import Batch, make
from garden_core.interfaces.pettingzoo_env import GardenEnv


def batch_record(name, options, seed):
    """Play a batch of one game to its end; return what was seen after every decision, as plain JSON."""
    batch = Batch(make(name, **options), 1)
    batch.reset(seed)
    lines = [_seen(batch.game.snapshot(batch.states[0]), batch.observation[0], batch.action_mask[0], None)]
    while True:
        decision = len(lines)
        batch.step([nth_legal(batch.action_mask[0], decision * 7)])
        paid = batch.rewards[0].tolist()
        if batch.terminated[0] or batch.truncated[0]:
            end = batch.last_states[0]
            views = [batch.observe(seat, batch.last_states)[0] for seat in range(batch.game.num_players)]
            return [*lines, _seen(batch.game.snapshot(end), np.concatenate(views), None, paid)]
        state = batch.states[0]
        lines.append(_seen(batch.game.snapshot(state), batch.observation[0], batch.action_mask[0], paid))


def aec_record(name, options, seed):
    """The same by the PettingZoo environment."""
    env = GardenEnv(name, **options)
    env.reset(seed)
    return aec_rest(env, 0)


def aec_rest(env, decisions, stop=None):
    """Play on to the end, or up to `stop` decisions after the deal; return the records from here on.

    `decisions`: how many were taken before.
    """
    lines = []
    while True:
        paid = [env.rewards[agent] for agent in env.possible_agents] if decisions + len(lines) else None
        if any(env.terminations.values()) or any(env.truncations.values()):
            views = [env.observe(agent)["observation"] for agent in env.possible_agents]
            return [*lines, _seen(env.snapshot(), np.concatenate(views), None, paid)]
        if decisions + len(lines) == stop:
            return lines
        seen = env.observe(env.agent_selection)
        lines.append(_seen(env.snapshot(), seen["observation"], seen["action_mask"], paid))
        env.step(nth_legal(seen["action_mask"], (decisions + len(lines)) * 7))


def nth_legal(mask, n):
    """The n-th of the legal actions, counted round and round."""
    legal = np.flatnonzero(mask)
    return int(legal[n % len(legal)])


def _seen(snapshot, view, mask, paid):
    return {
        "snapshot": snapshot,
        "view": hashlib.sha256(view.tobytes()).hexdigest()[:16],
        "legal": None if mask is None else np.flatnonzero(mask).tolist(),
        "paid": paid,
    }
