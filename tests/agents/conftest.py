"""What tests of agents share."""

import pytest


@pytest.fixture
def played(monkeypatch):
    """The jobs of an arena that this process plays, in their order."""
    from garden_agents.evaluation import arena

    jobs = []

    def noted(game, job, seed, play_job=arena.play_job):
        jobs.append(job)
        return play_job(game, job, seed)

    monkeypatch.setattr(arena, "play_job", noted)
    return jobs
