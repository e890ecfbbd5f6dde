"""Wrappers around the PettingZoo environment, where they are installed: Tianshou's and SuperSuit's."""

import numpy as np
import pytest

from cacti_env import cacti_v0


def test_tianshou_wraps_the_environment():
    pytest.importorskip("tianshou")
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    env = PettingZooEnv(cacti_v0.env())
    seen, _ = env.reset(seed=1)
    assert set(seen) == {"agent_id", "obs", "mask"}
    over = False
    while not over:
        seen, rewards, terminated, truncated, _ = env.step(int(np.flatnonzero(seen["mask"])[0]))
        over = terminated or truncated
    assert sum(rewards) == 0
    assert any(rewards)
    assert len(DummyVectorEnv([lambda: PettingZooEnv(cacti_v0.env())] * 3).reset()[0]) == 3


def test_supersuit_wraps_rewards_and_no_observations():
    """Its wrappers of observations know no dicts, which PettingZoo's masks come in."""
    supersuit = pytest.importorskip("supersuit")
    env = supersuit.reward_lambda_v0(cacti_v0.env(), lambda reward: 2 * reward)
    env.reset(seed=1)
    paid = []
    for _ in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        over = terminated or truncated
        paid += [reward] if over else []
        env.step(None if over else int(np.flatnonzero(seen["action_mask"])[0]))
    assert sorted(paid) in ([-2, 2], [0, 0])
    with pytest.raises(AssertionError, match="Dict"):
        supersuit.frame_stack_v1(cacti_v0.env(), 2)
