"""Games by name: installed ones and their options, another package's, and what is said of unknown ones."""

import numpy as np
import pytest
from pig import Pig

from garden_core import Option, list_games, make, registry
from mars_env import Mars


def announce(folder, monkeypatch, **games):
    """Have another package announce games, as one that is installed does."""
    about = folder / "toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n", "utf-8")
    lines = [f"{name} = {where}" for name, where in games.items()]
    (about / "entry_points.txt").write_text("[garden_core.games]\n" + "\n".join(lines), "utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_another_package_adds_a_game_and_only_the_one_named_is_loaded(tmp_path, monkeypatch):
    announce(tmp_path, monkeypatch, pig="pig:Pig", broken="no_such_module:Game")
    assert {"broken", "mars", "pig"} <= set(list_games())
    assert make("pig", goal=50) == Pig(goal=50)
    with pytest.raises(ModuleNotFoundError):
        make("broken")


def test_an_unknown_name_lists_the_known_ones_or_says_what_to_install(monkeypatch):
    with pytest.raises(ValueError, match=r"unknown game 'chess'; installed are: .*\bmars") as raised:
        make("chess")
    assert "pip install" not in str(raised.value)
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match=r"installed are: none\. .*pip install --editable \.; a class"):
        make("chess")


def test_an_unknown_option_is_named_with_the_known_ones():
    with pytest.raises(TypeError, match=r"mars got .* 'colour'; its options are num_players, .*reward"):
        make("mars", colour="red")


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("num_players", True, "from 1 to 5"),
        ("special_actions", 1, "True or False"),
        ("reward", "win", "'outcome' or 'margin'"),
        ("peaks", 4, "0 to 3 with num_players=2"),
    ],
)
def test_a_value_out_of_range_is_named_with_the_allowed_ones(option, value, allowed):
    """`check_game` tries values of every option."""
    with pytest.raises(ValueError, match=f"^{option} must be .*{allowed}.*, not {value!r}"):
        make("mars", **{option: value})


def test_games_are_values():
    plain = Mars(num_players=np.int64(3), special_actions=np.bool_(True))
    assert plain == Mars(num_players=3, special_actions=True)
    assert type(plain.option_values["num_players"]) is int
    assert hash(Mars(peaks=1)) == hash(Mars(peaks=1))
    assert Mars(peaks=1) != Mars()
    assert Mars() != Pig()
    assert repr(Mars(peaks=1, reward="margin")) == "Mars(peaks=1, reward='margin')"


def test_one_player_is_a_team():
    """Rewards compare players, unless they share one."""
    options = (Option("num_players", 1, "players", low=1, high=4), *Pig.options[1:])
    alone = type("Alone", (Pig,), {"__module__": __name__, "options": options})
    with pytest.raises(ValueError, match="pig for one player must be cooperative"):
        alone()
    type("Team", (alone,), {"__module__": __name__, "cooperative": True})()


def test_a_spec_is_json_and_makes_the_same_environment():
    import gymnasium
    from gymnasium.envs.registration import EnvSpec

    for name, options in (("mars", {"peaks": 1}), ("cacti", {}), ("botanicus", {"num_players": 4})):
        env = gymnasium.make(f"garden/{name.capitalize()}-v0", opponents=["random", "greedy"], **options)
        again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
        assert again.unwrapped.game == env.unwrapped.game == make(name, **options)


@pytest.mark.parametrize("name", ["../outside", "", "a b", "x/y", "1st", "é", "a" * 51, "a\n", "C:x"])
def test_a_games_name_can_name_a_file(name):
    """`garden export` and saved games name files by it."""
    with pytest.raises(TypeError, match="a game's name has at most 50 letters, digits and _"):
        type("Named", (Pig,), {"name": name, "rules": Pig.rules})
