"""The server behind the page: messages that it sends, accepts and refuses."""

import contextlib
import json
import random
import threading

import pytest
from garden_agents.play import rooms, web
from garden_agents.play.match import Match, agents_of, new_replay
from garden_agents.play.rooms import Room
from garden_agents.play.web import MESSAGE_LIMIT, PAGE_LIMIT
from pages import Page, address, first_room, get, keys, serving
from processes import garden_here
from variants import GAMES, hidden_games
from websockets.exceptions import ConnectionClosed, InvalidStatus

from cacti_env.cards import PACKAGED
from garden_core import GreedyPolicy, Replay, kernels, make, record
from garden_core.recorded.film import page as film


@pytest.fixture(scope="module")
def cacti():
    """A game of Cacti between two people."""
    with serving("cacti", ["human", "human"]) as server:
        yield server


@contextlib.contextmanager
def against_greedy(name):
    """A new game of a person against greedy play: the server, and the page of the person."""
    with serving(name, ["human", "greedy"]) as server, Page(server) as page:
        yield server, page


def take_first(page):
    """Take the first legal action."""
    page.act(page.now["legal"][0]["action"])


def opened(page, **game):
    """Begin another game from a page; return the key of its first seat."""
    page.send(**({"type": "new", "seats": ["human", "greedy"]} | game))
    return page.wait("opened")["seat"]


class Broken:
    """An agent that fails at its second move."""

    def __init__(self, game, seed):
        self.asked = 0

    def __call__(self, batch, rows):
        self.asked += 1
        if self.asked > 1:
            raise ZeroDivisionError("my own\nfault")
        return batch.action_mask[rows].argmax(1)


# --- playing ---


@pytest.mark.parametrize("name", GAMES)
def test_a_game_against_agents_from_start_to_end(name):
    rng, actions = random.Random(1), []
    others = make(name).num_players - 1
    with serving(name, ["human"] + ["greedy"] * others) as server, Page(server) as page:
        while page.wait_turn():
            actions.append(rng.choice(page.now["legal"])["action"])
            page.act(actions[-1])
        assert page.now["status"].startswith(("You won", "You share", "player_", "The team"))
        assert page.now["places"][0]["place"] == 1
        replay = Replay.parse(get(address(server, "/replay.json", seat=keys(server)[0]))[2].encode())
    assert replay.ended in ("terminated", "truncated")
    assert {place["seat"]: place["score"] for place in page.now["places"]} == dict(enumerate(replay.scores))
    assert [last[1] for _, last in replay.decisions() if last and last[0] == 0] == actions


@pytest.mark.parametrize("name", GAMES)
def test_pages_can_do_every_legal_action(name):
    rng = random.Random(2)
    with serving(name, ["human", "human"]) as server, Page(server, 0) as one, Page(server, 1) as two:
        match = first_room(server).match
        for _ in range(30):
            if one.now["over"]:
                break
            mover, other = (one, two) if one.now["mine"] else (two, one)
            assert [each["action"] for each in mover.now["legal"]] == match.legal
            assert all(each["text"] for each in mover.now["legal"])
            assert other.now["legal"] == []
            mover.act(rng.choice(match.legal))
            while other.now["at"] != mover.now["at"]:
                other.wait("position")


def test_agents_alone_are_watched_step_by_step():
    with serving("mars", ["greedy", "random"]) as server, Page(server, None) as page:
        assert page.welcome["seat"] is None
        for number in range(5):
            page.send(type="go", at=page.now["at"])
            page.wait("position")
            assert page.now["at"] == number + 1
        assert "moves next" in page.now["status"]
        assert page.refused(type="undo", at=page.now["at"])


def test_undo_goes_back_to_ones_own_last_decision():
    with against_greedy("mars") as (_, page):
        pictures = []
        for _ in range(5):
            assert page.wait_turn()
            pictures.append((page.now["svg"], page.now["legal"]))
            take_first(page)
        page.wait_turn()
        for expected in reversed(pictures):
            page.send(type="undo", at=page.now["at"])
            page.wait("position")
            assert (page.now["svg"], page.now["legal"]) == expected
        assert not page.now["undo"]
        assert page.now["first"] == 0
        assert "taken back" in page.refused(type="undo", at=page.now["at"])


def test_a_hint_that_fails_is_a_message(monkeypatch):
    with against_greedy("cacti") as (server, page):
        monkeypatch.setattr(type(first_room(server).match), "advise", lambda match: 1 / 0)
        page.send(type="hint", at=page.now["at"])
        assert page.wait("error")["text"] == "there is no hint: division by zero"
        take_first(page)
        assert page.now["at"] > 0


def test_a_hint_changes_nothing():
    with against_greedy("cacti") as (server, page):
        page.wait_turn()
        room = first_room(server)
        before = room.match.state.tobytes()
        page.send(type="hint", at=page.now["at"])
        hint = page.wait("hint")
        assert room.match.state.tobytes() == before
        assert sum(hint["shares"].values()) == pytest.approx(1, abs=0.02)
        assert hint["shares"].keys() == {str(each["action"]) for each in page.now["legal"]}
        assert -1 <= hint["value"] <= 1
        assert hint["action"] in room.match.legal


def test_a_game_without_pictures_is_played_by_words_and_buttons():
    with against_greedy("pig:Pig") as (server, page):
        assert page.welcome["games"][0]["name"] == "pig:Pig"
        for _ in range(5):
            assert page.wait_turn()
            assert page.now["svg"] == ""
            assert "score" in page.now["text"]
            page.act(page.now["legal"][-1]["action"])
        with Page(server, key=opened(page, game="pig:Pig", seats=["human", "mcts:100"])) as other:
            assert other.wait_turn()


@pytest.mark.parametrize(
    ("words", "message"), [("--host 203.0.113.1", "cannot be served"), ("--save x.json", "has a button")]
)
def test_errors_of_the_command(words, message):
    _, error = garden_here(f"play mars --web --no-open {words}")
    assert message in error
    assert "\n" not in error


# --- what is hidden ---


@hidden_games
def test_pages_receive_nothing_hidden(name):
    game, rng = make(name), random.Random(0)
    names = ["human"] * game.num_players
    room = Room(Match(new_replay(game, 1), names, agents_of(names, game, 0)))
    match, hidden = room.match, 0

    def sent(seat):
        viewer = rooms.Page(None, room, seat, False)
        viewer.moves = len(match.moves)  # moves are looked at below
        return room.position(viewer)

    while not match.over:
        for seat in range(game.num_players):
            before, true = sent(seat), match.state.copy()
            for draw in range(3):
                kernels.resample(match.state, game.params[0], seat, draw)
                hidden += match.state.tobytes() != true.tobytes()
                assert sent(seat) == before
                match.batch.states[0] = true
        match.act(rng.choice(match.legal))
        move = match.moves[-1]
        for seat in set(range(game.num_players)) - {move.seat}:
            description = match.in_words(len(match.moves) - 1, [seat])
            described = game.describe(move.before, move.action)
            assert description.startswith(game.labels[move.action]) or description in described
    assert hidden > 0


def test_several_people_get_the_replay_only_at_the_end(cacti):
    for path in ("/replay.json", "/replay.html"):
        status, _, text = get(address(cacti, path, seat=keys(cacti)[0]))
        assert (status, "at the end" in text) == (403, True)


def test_a_guest_gets_no_links_and_begins_no_games(cacti):
    with Page(cacti, 1, owner=False) as guest, Page(cacti, 0) as owner:
        assert [link["key"] for link in owner.welcome["links"]] == list(keys(cacti).values())
        assert (guest.welcome["links"], guest.welcome["games"]) == ([], [])
        assert keys(cacti)[0] not in "".join(guest.frames)
        assert cacti.token not in "".join(guest.frames)
        assert "only the person who started" in guest.refused(**NEW)


# --- who may come in ---


def test_pages_need_a_key(cacti):
    key = keys(cacti)[0]
    assert get(address(cacti, seat=key))[0] == 200
    status, headers, text = get(address(cacti, token=cacti.token))
    assert (status, "page.js" in text) == (200, True)  # after a redirection to the seat
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    for query in ({}, {"seat": key[:-1]}, {"token": "x"}, {"seat": "é".encode().hex()}):
        assert get(address(cacti, **query))[0] == 404
    for path in ("/replay.json", "/replay.html"):
        assert get(address(cacti, path, seat="x"))[0] == 403
    with pytest.raises(ConnectionClosed) as closed:
        Page(cacti, key="wrong")
    assert closed.value.rcvd.code == 4404


def test_other_sites_and_names_are_refused(cacti):
    host = f"127.0.0.1:{cacti.port}"
    with Page(cacti, 0, origin=f"http://{host}") as page:
        assert page.now["at"] == 0
    for origin in ("http://evil.example", f"http://{host}.evil.example", "null"):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            Page(cacti, 0, origin=origin)
    assert get(address(cacti, seat=keys(cacti)[0]), Host="evil.example")[0] == 400


# --- bad messages ---

NEW = {"type": "new", "game": "cacti", "seats": ["human", "greedy"]}
WRONG = [
    "",
    "[]",
    '{"type": "act"}',
    '{"type": "act", "at": 0, "action": "0"}',
    '{"type": "act", "at": 0, "action": 1, "more": 1}',
    '{"type": "act", "at": 0, "action": -1}',
    '{"type": "act", "at": 0, "action": 99999999999999999999}',
    '{"type": "act", "at": 7, "action": 0}',
    '{"type": "go", "at": 0}',
    '{"type": "undo", "at": 3}',
    *(
        json.dumps(NEW | change)
        for change in (
            {"game": "os:system"},
            {"seats": ["human"]},
            {"seats": ["human", "/etc/passwd"]},
            {"seats": ["human", "os:system"]},
            {"seats": ["human", "program:touch /tmp/x"]},
            {"seed": -1},
            {"seed": 1},
            {"seed": "-1"},
            {"seed": "18446744073709551616"},
            {"seed": "1e3"},
            {"seats": ["human", "mcts:10000"]},
            {"seats": ["human", "mcts:99s"]},
            {"game": "trap:Pig"},
            {"options": {"cards": "/etc/passwd"}},
            {"options": {"flavour": 3}},
            {"replay": "{}"},
            {"game": "mars", "seats": ["human"] * 10, "options": {"num_players": 10}},
        )
    ),
    '{"type": ' * 3000,
    '"\\ud800"',
    "\u0000",
]


def test_hundreds_of_wrong_messages_change_nothing():
    with against_greedy("cacti") as (server, page):
        count, state = len(server.rooms), first_room(server).match.state.tobytes()
        rng, good = random.Random(0), json.dumps({"type": "act", "at": 0, "action": 3})
        messages = list(WRONG)
        while len(messages) < 300:  # a correct message with a few other characters, which does not act
            wrong = list(good)
            for _ in range(rng.randint(1, 4)):
                wrong[rng.randrange(len(wrong))] = chr(rng.choice([*range(32, 127), 0, 0x2603]))
            text, acts = "".join(wrong), False
            with contextlib.suppress(ValueError, RecursionError):
                acts = getattr(rooms.decode(text), "at", 0) == 0
            messages += [] if acts else [text]
        for text in messages:
            page.socket.send(text)
            assert page.wait("error")["text"]
        assert (len(server.rooms), first_room(server).match.state.tobytes()) == (count, state)
        take_first(page)
        assert page.now["at"] == 1


def test_bytes_and_too_long_messages_end_the_page_alone(cacti):
    for message in (b"\x00\xff", "x" * (MESSAGE_LIMIT + 1)):
        with Page(cacti, 0) as page:
            page.socket.send(message)
            with pytest.raises(ConnectionClosed):
                page.wait("error")
    with Page(cacti, 0) as page:
        assert page.now["at"] == 0


def test_messages_at_the_wrong_time_are_answered():
    with serving("cacti", ["human", "human"]) as server, Page(server, 0) as page, Page(server, 1) as other:
        mover, waiting = (page, other) if page.now["mine"] else (other, page)
        action = mover.now["legal"][0]["action"]
        assert "turn" in waiting.refused(type="act", at=0, action=action)
        assert "for the player to move" in waiting.refused(type="hint", at=0)
        mover.act(action)
        assert "gone on" in mover.refused(type="act", at=0, action=action)
        assert "gone on" in mover.refused(type="hint", at=0)
        assert not mover.now["undo"]  # as there are several people
        assert "taken back" in mover.refused(type="undo", at=mover.now["at"])


def test_an_agents_fault_ends_its_game_alone(capsys):
    with serving("mars", ["human", "test_server:Broken"]) as server, Page(server) as page:
        while "failed" not in page.now["status"]:
            if page.now["mine"]:
                take_first(page)
            else:
                page.receive()
        assert page.now["status"] == "player_1 (test_server:Broken) failed: my own\\nfault"
        assert "failed" in page.refused(type="undo", at=page.now["at"])
        with Page(server, key=opened(page, game="mars")) as other:
            assert other.wait_turn()


def test_a_position_that_cannot_be_drawn_is_an_error_message(monkeypatch):
    with against_greedy("mars") as (server, page):

        def fails(*_):
            raise ZeroDivisionError("no ink")

        monkeypatch.setattr(type(first_room(server).match.game), "own_svg", fails)
        assert "cannot be shown: no ink" in page.refused(type="look")
        monkeypatch.undo()
        page.send(type="look")
        assert page.wait("position")["svg"]


def test_a_page_that_does_not_read_is_dropped(cacti):
    room = first_room(cacti)
    slow = rooms.Page(None, room, 0, False)
    room.pages.add(slow)
    for _ in range(rooms.QUEUE_LIMIT + 1):
        slow.send({"type": "position"})
    assert slow not in room.pages


def test_many_pages_of_a_seat_leave_the_others_theirs(cacti):
    with contextlib.ExitStack() as opened:
        for _ in range(PAGE_LIMIT):
            opened.enter_context(Page(cacti, 0))
        for _ in range(PAGE_LIMIT):
            with pytest.raises(ConnectionClosed, match="too many pages"):
                Page(cacti, 0)
        other = opened.enter_context(Page(cacti, 1))
        assert other.welcome["seat"] == 1


def test_a_slow_position_delays_no_other_game(monkeypatch):
    """The other game is played while the position of the first is being made."""
    done, asked, position = threading.Event(), threading.Event(), Room.position

    def slow(room, page):
        if room.match.game.name == "mars":
            asked.set()
            assert done.wait(60)
        return position(room, page)

    monkeypatch.setattr(Room, "position", slow)
    with serving("cacti", ["human", "human"]) as server, Page(server) as page:
        key = opened(page, game="mars", seats=["human", "human"])
        waiting = threading.Thread(target=lambda: Page(server, key=key).close())
        waiting.start()
        assert asked.wait(60)
        take_first(page)
        assert page.now["at"] == 1
        done.set()
        waiting.join(60)


def test_a_guest_sees_own_cards_in_the_rules_and_no_path_of_the_server(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(PACKAGED.read_text("utf-8").replace("barrel", "![a](http://a.org)|<b>"), "utf-8")
    with (
        serving("cacti", ["human", "human"], options={"cards": str(own)}) as server,
        Page(server, 1) as guest,
    ):
        assert guest.welcome["options"]["cards"] == "own.toml"
        assert (
            "<th>![a](http://a.org)|&lt;b&gt;</th>" in guest.welcome["rules"]
        )  # neither a picture nor a column
        assert "barrel" not in guest.welcome["rules"]
        assert str(tmp_path) not in json.dumps([guest.welcome, guest.now])


# --- new games ---


def test_new_games_saved_games_and_their_films():
    seats = ["human", "greedy", "random"]
    with against_greedy("cacti") as (server, page):
        key = opened(page, game="mars", seats=seats, options={"num_players": 3}, seed="5")
        with Page(server, key=key) as other:
            assert other.welcome["options"]["num_players"] == 3
            assert other.wait_turn()
            take_first(other)
            saved = get(address(server, "/replay.json", seat=key))[2]
        replay = Replay.parse(saved.encode())
        assert replay.ended == "running"
        with Page(server, key=opened(page, game="", seats=seats, replay=saved)) as again:
            assert again.welcome["game"] == "mars"
            assert len(again.now["moves"]) >= len(replay.actions)
        whole = record(make("cacti"), [GreedyPolicy(1), GreedyPolicy(2)])
        key = opened(page, game="", seats=[], replay=film(whole))
        with Page(server, key=key) as ended:
            assert ended.now["over"]
        status, headers, text = get(address(server, "/replay.html", seat=key))
        assert status == 200
        assert Replay.parse(text.encode()) == whole
        assert "'self'" not in headers["Content-Security-Policy"]


def test_the_number_of_games_is_limited(monkeypatch):
    monkeypatch.setattr(web, "ROOM_LIMIT", 5)
    with against_greedy("mars") as (server, page):
        for _ in range(4):
            opened(page, game="cacti")
        assert "5 games" in page.refused(**NEW)
        server.free_idle()
        assert len(server.rooms) == 5
        for room in server.rooms.values():
            room.used -= web.IDLE_SECONDS + 1
        server.free_idle()
        assert len(server.rooms) == 1  # the one that is looked at
