"""Datasets in torch's DataLoader: every decision once, in any order and with any number of workers."""

import numpy as np
import pytest
from dataset_tools import dataset_of, played

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader

from garden_core import make
from garden_core.interfaces import TorchDataset

FORKED = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def games():
    return dataset_of(played(make("cacti"), 30))


def loaded(games, workers=0, seed=None, batch_size=None, persistent=False, epochs=1, **options):
    """The batches of some epochs."""
    if seed is not None:
        torch.manual_seed(seed)
    loader = DataLoader(
        TorchDataset(games, 64, **options), batch_size, num_workers=workers, persistent_workers=persistent
    )
    return [list(loader) for _ in range(epochs)]


def rows(batches):
    """All decisions of batches, each as the bytes of its row of every array."""
    return [
        b"".join(batch[name][i].numpy().tobytes() for name in batch)
        for batch in batches
        for i in range(len(batch["action"]))
    ]


def test_in_order(games):
    (batches,) = loaded(games, shuffle=False, mixed=100)
    whole = games.expand()
    for name, array in whole._asdict().items():
        tensors = [batch[name] for batch in batches]
        assert tensors[0].dtype == torch.from_numpy(array).dtype
        np.testing.assert_equal(torch.cat(tensors).numpy(), array)
    assert [len(batch["action"]) for batch in batches[:-1]] == [64] * (games.num_decisions // 64)


def test_what_follows_stays_with_its_decision(games):
    whole = games.expand()
    names = (
        "game",
        "player",
        "return_to_go",
        "observation",
        "action_mask",
        "next_observation",
        "next_action_mask",
    )
    every = whole._asdict() | games.following(whole)._asdict()
    expected = {b"".join(every[name][i].tobytes() for name in names) for i in range(games.num_decisions)}
    (batches,) = loaded(games, mixed=100, following=True)
    found = [
        b"".join(batch[name][i].numpy().tobytes() for name in names)
        for batch in batches
        for i in range(len(batch["action"]))
    ]
    assert len(found) == games.num_decisions
    assert set(found) == expected
    assert not any(name.startswith("next") for name in loaded(games)[0][0])


@FORKED
@pytest.mark.parametrize(("workers", "mixed"), [(0, 1), (0, 16_384), (1, 200), (2, 200)])
def test_every_decision_comes_once(games, workers, mixed):
    every = sorted(rows(loaded(games, shuffle=False)[0]))
    assert len(set(every)) == len(every)
    for epoch in loaded(games, workers, mixed=mixed, epochs=2):
        assert sorted(rows(epoch)) == every
        assert sum(len(batch["action"]) < 64 for batch in epoch) <= max(workers, 1)


@FORKED
@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, True)])
def test_shuffling_follows_torchs_generator(games, workers, persistent):
    first, second = map(rows, loaded(games, workers, 5, persistent=persistent, epochs=2))
    assert first != second
    assert [first, second] == list(map(rows, loaded(games, workers, 5, persistent=persistent, epochs=2)))
    assert first != rows(loaded(games, workers, 6)[0])
    order = [batch["game"].tolist() for batch in loaded(games, workers, 5)[0]]
    assert len(set(order[0])) > 10  # of thirty: the decisions of many games are mixed


def test_the_order_depends_on_nothing_but_the_seed(games):
    """Not on what was iterated before, nor on another dataset."""
    dataset = TorchDataset(games, 64)
    orders = []
    for _ in range(3):
        torch.manual_seed(5)
        orders.append(rows(dataset))
    torch.manual_seed(5)
    assert orders[0] == orders[1] == orders[2] == rows(TorchDataset(games, 64))


@FORKED
@pytest.mark.parametrize("workers", [0, 2])
def test_a_generator_draws_the_order(games, workers):
    def order(seed, other):
        torch.manual_seed(other)
        generator = torch.Generator().manual_seed(seed)
        dataset = TorchDataset(games, 64, generator=generator)
        list(dataset)  # epochs in this process leave no trace in workers
        generator.manual_seed(seed)
        return rows(DataLoader(dataset, None, num_workers=workers, generator=generator if workers else None))

    assert order(3, 0) == order(3, 1) != order(4, 0)


@FORKED
def test_some_games_in_spawned_workers(games):
    loader = DataLoader(
        TorchDataset(games, 8, games=[4, 9]), None, num_workers=1, multiprocessing_context="spawn"
    )
    assert {number for batch in loader for number in batch["game"].tolist()} == {4, 9}
