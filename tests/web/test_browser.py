"""Whole games on the page in a real browser: `make test-web`."""

import contextlib
import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest
from pages import address, first_room, keys, serving

from garden_core import Replay, list_games, make

sync_api = pytest.importorskip("playwright.sync_api")

GAMES = list_games()
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "needs Chromium: `apt-get install chromium`, or name one by the variable CHROMIUM"


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
        self.watch()
        self.page.goto(url)
        self.page.locator("#points tbody tr").first.wait_for()

    def watch(self):
        """Keep what the server sends."""
        self.page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: self.frames.append(frame))
        )

    def positions(self):
        messages = map(json.loads, self.frames)
        return [message for message in messages if message["type"] == "position"]

    def wait_turn(self):
        """Wait for this seat's turn or the end; return whether it is the turn."""
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
        actions = tab.targets().evaluate_all("all => all.map(each => each.dataset.action)")
        assert len(set(actions)) == len(tab.positions()[-1]["legal"])
        count = len(actions)
        tab.act(lambda count=count: choose(tab, rng.randrange(count)))
        made += 1
    return made


def click(tab, number):
    tab.targets().nth(number).click(timeout=5000)


@contextlib.contextmanager
def opened(browser, name, width=1280, **context):
    """A new game against greedy play, on the page of its first seat."""
    with serving(name, ["human"] + ["greedy"] * (make(name).num_players - 1)) as server:
        tab = Tab(browser, address(server, token=server.token), width, **context)
        yield tab
        tab.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", [*GAMES, "tricks:Tricks"])
def test_a_whole_game_by_clicking(name, width, scheme, browser):
    with opened(browser, name, width, color_scheme=scheme) as tab:
        assert play(tab, random.Random(1), click) > 5
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert tab.page.locator("#points caption").inner_text() == "Result"
        with tab.page.expect_download() as saved:
            tab.page.click("#save")
        assert Replay.parse(Path(saved.value.path()).read_bytes(), game=name).ended != "running"


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_by_keyboard(name, browser):
    rng = random.Random(2)

    def choose(tab, _):
        for _ in range(rng.randint(1, 4)):
            tab.page.keyboard.press(rng.choice(["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]))
        assert tab.page.evaluate("() => !!document.activeElement.dataset.action")
        tab.page.keyboard.press("Enter")

    with opened(browser, name) as tab:
        assert play(tab, rng, choose) > 5


def test_two_browsers_play_each_other(browser):
    """tests/web/test_server.py checks that they receive nothing hidden."""
    with serving("cacti", ["human", "human"]) as server:
        room = first_room(server)
        match, rng = room.match, random.Random(3)
        tabs = [Tab(browser, address(server, seat=keys(server)[seat])) for seat in (0, 1)]
        while not match.over:
            mover, other = tabs[match.seat], tabs[1 - match.seat]
            assert mover.wait_turn()
            mover.act(lambda mover=mover: click(mover, rng.randrange(mover.targets().count())))
            for _ in range(100):
                if other.positions()[-1]["at"] == room.changes:
                    break
                other.page.wait_for_timeout(20)
        for tab in tabs:
            tab.wait_turn()
            assert all(server.token not in frame for frame in tab.frames[:-1])
            tab.close()


def test_hint_undo_rules_and_a_new_game(browser):
    with opened(browser, "mars") as tab:
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
        with tab.context.expect_page() as film:
            page.click("#film")
        film.value.locator("#board svg").wait_for()


def test_a_guide_of_five_steps_leads_through_the_first_game(browser):
    with opened(browser, "botanicus") as tab:
        page, steps = tab.page, 0
        while page.locator("#guide").is_visible():
            steps += 1
            assert page.inner_text("#guide p").startswith(f"{steps} of 5: ")
            page.click("#guide-next")
        assert steps == 5
        page.reload()
        page.locator("#points tbody tr").first.wait_for()
        assert page.locator("#guide").is_hidden()
        page.click("#guide-button")
        page.click("#guide-close")
        assert page.locator("#guide").is_hidden()


@pytest.mark.parametrize("name", GAMES)
def test_a_choice_is_in_sight_on_a_phone(name, browser):
    with opened(browser, name, 390) as tab:
        tab.page.click("#guide-close")
        for _ in range(8):
            if tab.wait_turn():
                heights = [tab.targets().nth(n).bounding_box() for n in range(tab.targets().count())]
                assert any(box["y"] >= 0 and box["y"] + box["height"] <= 844 for box in heights)
                tab.act(lambda: click(tab, 0))
                tab.page.evaluate("() => scrollTo(0, 0)")


@pytest.mark.parametrize("name", GAMES)
def test_everything_that_can_be_pressed_has_a_name(name, browser):
    with opened(browser, name) as tab:
        tab.wait_turn()
        tree = tab.page.locator("body").aria_snapshot()
        assert "- button\n" not in tree
        assert tree.count("button") >= tab.targets().count()
