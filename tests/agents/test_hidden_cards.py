"""A game that only defines what a seat sees (`seen`) shows no hidden card in any interface."""

import re

import pytest
from garden_agents.play import recorded
from garden_agents.play.match import Match, new_replay
from garden_agents.play.terminal import Table
from toys import Cards

from garden_core import Game, Replay, kernels
from garden_core.interfaces import Env, GardenEnv
from garden_core.recorded.film import page


class Drawn(Cards):
    """Cards with a picture, and with descriptions of decisions that name the mover's card."""

    def own_svg(self, view, seat, look):
        return f"<svg>{view}</svg>"

    def describe(self, state, action):
        return f"{self.labels[action]} the {state['hand'][state['current_player']]}"


def pettingzoo(game, state):
    env = GardenEnv(game, render_mode="ansi")
    env.reset(1)
    env.states[0] = state
    return env.render(seat=0)


def gymnasium(game, state):
    env = Env(game, seat=0, render_mode="ansi")
    env.reset(seed=1)
    env.learner.batch.states[0] = state
    return env.render()


def people(game, state):
    match = Match(new_replay(game, 1), ["human", "human"], [None, None])
    match.batch.states[0] = state
    match.batch.refresh()
    return match


def web(game, state):
    rooms = pytest.importorskip("garden_agents.play.rooms")
    room = rooms.Room(people(game, state))
    return room.position(rooms.Page(None, room, 0, False))


def terminal(game, state, capsys):
    Table(people(game, state), None, "").play()
    return capsys.readouterr().out


@pytest.mark.parametrize("game", [Cards(), Drawn()])
@pytest.mark.parametrize("show", [pettingzoo, gymnasium, web, terminal])
def test_a_seat_is_shown_nothing_hidden(game, show, request, monkeypatch):
    """`check_game` compares texts, pictures and seat views."""
    monkeypatch.setattr("builtins.input", enter_or_leave)
    states = game.new_states(2)
    kernels.deal(states[0], game.params[0], 5)
    states[1] = states[0]
    kernels.resample(states[1], game.params[0], 0, 5)
    more = (request.getfixturevalue("capsys"),) if show is terminal else ()
    one, other = (show(game, state, *more) for state in states)
    assert one == other
    assert game.text(states[0]) != game.text(states[1])
    assert str(states[0]["hand"][0]) in str(one)


def enter_or_leave(prompt):
    if "Enter" not in prompt:
        raise EOFError
    return ""


def test_a_recorded_game_shows_a_seat_nothing_hidden(monkeypatch, capsys):
    """Neither the first player's changed card nor the scores, on the page or printed."""
    replay = Replay.of(Drawn(), 5, ["change"])
    monkeypatch.setattr(Replay, "load", lambda *arguments: replay)
    card, *_ = next(replay.states())["hand"]
    for seat, described, scores in (
        (None, f"change the {card}", replay.scores),
        (0, f"change the {card}", (0, 0)),
        (1, "change", (0, 0)),
    ):
        whole = page(replay, seat)
        recorded.main(recorded.Arguments("file", seat=seat))
        printed = capsys.readouterr().out
        assert f"player_0: {described}\n" in printed
        assert printed.endswith(f"scores: {scores[0]}, {scores[1]}\n")
        assert re.search(f"<title>Cards: {scores[0]}, {scores[1]}", whole)


def test_without_seen_a_seat_is_shown_nothing():
    class Silent(Cards):
        seen = Game.seen

    game = Silent()
    states = game.new_states(1)
    kernels.deal(states[0], game.params[0], 1)
    for show in (game.text, game.seat_view, game.svg):
        with pytest.raises(ValueError, match="does not say what a seat sees of a snapshot"):
            show(states[0], 0)
    assert "deck" in game.text(states[0])
