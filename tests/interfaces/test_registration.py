"""Names under which games are registered with other libraries: each belongs to one class."""

import gymnasium
import pettingzoo
import pytest
from pig import Pig

from garden_core.interfaces import register_environments

REGISTRIES = [gymnasium.registry, getattr(pettingzoo, "aec_registry", {})]


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    for registry in REGISTRIES:
        for name in [name for name in registry if name.lower() == "garden/pig-v0"]:
            monkeypatch.delitem(registry, name)
    yield
    for registry in REGISTRIES:
        for name in [name for name in registry if name.lower() == "garden/pig-v0"]:
            del registry[name]


def another(module, number):
    """Another class with the name of Pig."""
    return type("Pig", (Pig,), {"__module__": module, "__qualname__": f"<made>.Pig {number}"})


def test_two_games_of_one_name_are_refused():
    register_environments(Pig)
    register_environments(Pig)
    with pytest.raises(ValueError, match=r"garden/Pig-v0 is registered for another class, pig:Pig"):
        register_environments(another(__name__, 2))
    assert gymnasium.make("garden/Pig-v0").unwrapped.game == Pig()


def test_a_class_that_is_defined_again_replaces_itself():
    first, again, other = another("__main__", 2), another("__main__", 2), another("__main__", 3)
    for kind in (first, again):
        register_environments(kind)
        assert type(gymnasium.make("garden/Pig-v0").unwrapped.game) is kind
    with pytest.raises(ValueError, match="is registered for another class"):
        register_environments(other)
