"""Fixtures of tests of agents."""

import pytest


@pytest.fixture
def by_torch(monkeypatch):
    """A function after whose call networks learn by torch's own operations, as on a GPU."""
    from garden_agents.training.torch_network import TorchNetwork

    def begin(self, *arguments, begin=TorchNetwork.__init__, **settings):
        begin(self, *arguments, **settings)
        self.by_torch = True

    return lambda: monkeypatch.setattr(TorchNetwork, "__init__", begin)


@pytest.fixture
def played(monkeypatch):
    """The jobs of an arena that this process plays, in their order."""
    from garden_agents.matches import pairs

    jobs = []

    def noted(game, job, play_job=pairs.play_job, **settings):
        jobs.append(job)
        return play_job(game, job, **settings)

    monkeypatch.setattr(pairs, "play_job", noted)
    return jobs
