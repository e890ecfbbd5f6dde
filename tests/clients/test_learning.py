"""The examples with other libraries learn."""

import importlib

import pytest
from garden_agents import load_agent, meet

from garden_core import make

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:No target network:UserWarning")


@pytest.mark.parametrize(
    ("libraries", "example", "settings"),
    [
        ("jax", "jax_callback", {"updates": 30}),
        ("pyspiel open_spiel tree", "dqn_openspiel", {}),
        ("torchrl", "dqn_torchrl", {"decisions": 150_000}),
    ],
)
def test_an_example_learns_cacti(libraries, example, settings, tmp_path):
    """In 200 games against random play the lower end of the 95 % interval is above one half; saved weights play, too."""
    for library in libraries.split():
        pytest.importorskip(library)
    module = importlib.import_module(example)
    path = tmp_path / "weights.pt"
    if saves := hasattr(module, "make"):
        settings = {**settings, "output": path}
    rate = module.main(module.Arguments(**settings))
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
    if saves:
        game = make("cacti")
        agents = load_agent(f"{example}:make?weights={path}", game), load_agent("random", game, seed=1)
        assert meet(game, ("dqn", "random"), agents, games=200).win_rate == rate


def test_dqn_takes_the_best_legal_action_of_the_next_state():
    """Squared errors of the loss are those from the reward and the highest value among the next state's legal actions."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchrl")
    import dqn_torchrl

    from garden_core.interfaces import BatchEnv

    game = make("cacti", reward="margin")
    actor = dqn_torchrl.new_actor(game, 16)
    rollout = BatchEnv(game, 8).rollout(100, break_when_any_done=False).reshape(-1)
    after, over = rollout["next"], rollout["next", "terminated"][:, 0]
    after["reward"] = after["reward"][:, :1]
    assert 0 < over.sum() < (~after["action_mask"]).any(1).sum()
    dqn_torchrl.new_loss(actor)(rollout)
    with torch.no_grad():
        values, later = (actor[0].module(each["observation"]) for each in (rollout, after))
    best = later.masked_fill(~after["action_mask"], -torch.inf).amax(1)
    target = after["reward"][:, 0] + best.where(~over, 0)
    error = values.gather(1, rollout["action"][:, None])[:, 0] - target
    torch.testing.assert_close(rollout["td_error"][:, 0], error.square())
