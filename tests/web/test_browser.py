"""Whole games on the page in a real browser: `make test-web`."""

import json
import os
import random
import re
import shutil

import pytest
from garden_agents.play import web
from pages import address, keys, serving

from garden_core import list_games, make
from garden_core.files.replay import Replay
from garden_core.jit import kernels

sync_api = pytest.importorskip("playwright.sync_api")

GAMES = list_games()
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "needs Chromium: on Debian and Ubuntu `apt-get install chromium`, or name one by the variable CHROMIUM"
)


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


class Tab:
    """A seat's page in the browser."""

    def __init__(self, browser, url, width=1280, **context):
        self.context = browser.new_context(viewport={"width": width, "height": 844}, **context)
        self.page = self.context.new_page()
        self.faults, self.frames = [], []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: self.frames.append(frame))
        )
        self.page.goto(url)
        self.page.locator("#points tbody tr").first.wait_for()

    def positions(self):
        messages = map(json.loads, self.frames)
        return [message for message in messages if message["type"] == "position"]

    def wait_turn(self):
        """Wait until this seat is to move, or the game is over; return whether it is to move."""
        self.page.locator("#status", has_text=OURS_OR_OVER).wait_for()
        return self.page.inner_text("#status") == "Your turn"

    def targets(self):
        return self.page.locator("#board [data-action], #choices [data-action]")

    def act(self, do):
        """Do something, and wait for the position that it leads to."""
        known = len(self.positions())
        do()
        for _ in range(200):
            if len(self.positions()) > known:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"nothing happened: {self.page.inner_text('#error')}")

    def close(self):
        assert self.faults == []
        self.context.close()


OURS_OR_OVER = re.compile(r"^Your turn$|^You |won$|^The team")


def play(tab, rng, choose):
    """Play to the end; return how many decisions were made here."""
    made = 0
    while tab.wait_turn():
        count = tab.targets().count()
        assert count == len(tab.positions()[-1]["legal"])
        tab.act(lambda count=count: choose(tab, rng.randrange(count)))
        made += 1
    return made


def click(tab, number):
    tab.targets().nth(number).click(timeout=5000)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_by_clicking(name, width, browser):
    others = make(name).num_players - 1
    with serving(name, ["human"] + ["greedy"] * others) as server:
        tab = Tab(
            browser,
            address(server, token=server.token),
            width,
            color_scheme="dark" if width == 390 else "light",
        )
        assert play(tab, random.Random(1), click) > 5
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert tab.page.locator("#points caption").inner_text() == "Result"
        with tab.page.expect_download() as saved:
            tab.page.click("#save")
        with open(saved.value.path(), "rb") as file:
            assert Replay.parse(file.read()).ended != "running"
        tab.close()


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_by_keyboard(name, browser):
    others = make(name).num_players - 1
    with serving(name, ["human"] + ["greedy"] * others) as server:
        tab = Tab(browser, address(server, token=server.token))
        rng = random.Random(2)

        def choose(tab, _):
            for _ in range(rng.randint(1, 4)):
                tab.page.keyboard.press(rng.choice(["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]))
            assert tab.page.evaluate("() => !!document.activeElement.dataset.action")
            tab.page.keyboard.press("Enter")

        assert play(tab, rng, choose) > 5
        tab.close()


def test_two_browsers_play_each_other_and_see_their_own_cards_alone(browser):
    with serving("cacti", ["human", "human"]) as server:
        room = next(iter(server.rooms.values()))
        match, rng, checked = room.match, random.Random(3), 0
        tabs = [Tab(browser, address(server, seat=keys(server)[seat])) for seat in (0, 1)]
        while not match.over:
            mover = tabs[match.seat]
            assert mover.wait_turn()
            for seat, tab in enumerate(tabs):
                sent, true = tab.positions()[-1], match.state.copy()
                viewer = web._Page(None, room, seat, False)
                viewer.moves = sent["first"]
                for draw in range(3):
                    kernels.resample(match.state, match.game.params[0], seat, draw)
                    checked += match.state.tobytes() != true.tobytes()
                    assert json.loads(json.dumps(room.position(viewer))) == sent | {
                        "moves": room_moves(room, seat, sent)
                    }
                    match.batch.states[0] = true
                    viewer.moves = sent["first"]
            mover.act(lambda mover=mover: click(mover, rng.randrange(mover.targets().count())))
            other = tabs[1 - tabs.index(mover)]
            for _ in range(100):
                if other.positions()[-1]["at"] == room.changes:
                    break
                other.page.wait_for_timeout(20)
        assert checked > 20
        for tab in tabs:
            tab.wait_turn()
            for frame in tab.frames[:-1]:
                assert server.token not in frame
            tab.close()


def room_moves(room, seat, sent):
    told = enumerate(room.match.moves[sent["first"] :], sent["first"])
    return [{"seat": move.seat, "text": room.match.told(i, [seat]), "estimate": ""} for i, move in told]


def test_hint_undo_rules_and_a_new_game(browser):
    with serving("mars", ["human", "greedy"]) as server:
        tab = Tab(browser, address(server, token=server.token))
        page = tab.page
        assert tab.wait_turn()
        page.keyboard.press("h")
        page.locator("#advice", has_text="would choose").wait_for()
        assert page.locator("#board .advice").count() >= 1
        tab.act(lambda: click(tab, 0))
        assert tab.wait_turn()
        assert page.locator("#board .advice").count() == 0
        assert page.locator("#moves li").count() >= 1
        tab.act(lambda: page.click("#undo"))
        assert page.locator("#moves li").count() == 0
        page.click("#rules-button")
        assert "flower" in page.inner_text("#rules").lower()
        page.click("#new-button")
        page.select_option("#game", "cacti")
        page.locator("#seats select").nth(0).select_option("greedy")
        page.click("#begin")
        page.locator("#title", has_text="Cacti").wait_for()
        page.fill("#seconds", "0")
        page.click("#play")
        page.locator("#points caption", has_text="Result").wait_for(timeout=60_000)
        with tab.context.expect_page() as opened:
            page.click("#film")
        opened.value.locator("#board svg").wait_for()
        tab.close()


def test_everything_that_can_be_pressed_has_a_name(browser):
    for name in GAMES:
        others = make(name).num_players - 1
        with serving(name, ["human"] + ["greedy"] * others) as server:
            tab = Tab(browser, address(server, token=server.token))
            tab.wait_turn()
            tree = tab.page.locator("body").aria_snapshot()
            assert "- button\n" not in tree
            assert tree.count("button") >= tab.targets().count()
            tab.close()
