"""The page that needs no server, in a real browser: `make test-web`."""

import base64
import functools
import gzip
import hashlib
import http.server
import json
import os
import random
import threading
import zlib
from pathlib import Path

import pytest
from test_browser import Tab, browser, click, play

from garden_core import RandomPolicy, Replay, make, record

GAMES = "mars", "cacti", "botanicus"
SPY = """
window.heard = [];
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", event => heard.push({ ...JSON.parse(event.data), svg: "", rules: "", games: [] }));
  }
};
"""
_ = browser  # the fixture


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return the folder of a site with the page under play/, and its address; of the one that SITE names, if it has one."""
    from garden_agents.play import static

    folder = Path(os.environ.get("SITE", "build/no-site"))
    if not (folder / "play").is_dir():
        folder = tmp_path_factory.mktemp("site")
        static.write(folder / "play", GAMES)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        log_message = staticmethod(lambda *_: None)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder / "play", f"http://127.0.0.1:{server.server_port}/play/"
    server.shutdown()
    server.server_close()


class StaticTab(Tab):
    """The page in the browser; it may ask for nothing outside its folder."""

    def __init__(
        self,
        browser,
        address,
        game="",
        width=1280,
        players=("human", "greedy"),
        options=None,
        seed=3,
        **context,
    ):
        self.address = address
        content = [game, options or {}, seed, players, []]
        super().__init__(browser, address + (f"#{link(content)}" if game else ""), width, **context)

    def watch(self):
        self.page.add_init_script(SPY)
        self.page.on("request", lambda request: self.elsewhere(request.url))

    def elsewhere(self, url):
        if not url.startswith((self.address, "blob:", "data:")):
            self.faults.append(url)

    def positions(self):
        self.frames += self.page.evaluate("number => heard.slice(number)", len(self.frames))
        return [message for message in self.frames if message["type"] == "position"]


def link(content):
    """Return the end of an address."""
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode().rstrip("=")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_by_clicking_and_its_replay(name, width, scheme, browser, site):
    tab = StaticTab(browser, site[1], name, width, color_scheme=scheme)
    assert play(tab, random.Random(1), click) > 5
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert tab.page.locator("#points caption").inner_text() == "Result"
    with tab.page.expect_download() as saved:
        tab.page.click("#save")
    replay = Replay.parse(Path(saved.value.path()).read_bytes())
    assert replay.ended == "terminated"
    assert replay.seed == 3
    tab.close()


def test_a_whole_game_by_keyboard(browser, site):
    rng, tab = random.Random(2), StaticTab(browser, site[1], "mars")

    def choose(tab, _):
        for _ in range(rng.randint(1, 4)):
            tab.page.keyboard.press(rng.choice(["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]))
        tab.page.keyboard.press("Enter")

    assert play(tab, rng, choose) > 5
    tab.close()


def test_a_whole_game_offline(browser, site):
    tab = StaticTab(browser, site[1])
    tab.page.evaluate("() => navigator.serviceWorker.ready")
    tab.page.wait_for_function("() => navigator.serviceWorker.controller")
    tab.context.set_offline(True)
    tab.page.goto(f"{site[1]}#{link(['cacti', {}, 4, ['human', 'network'], []])}")
    tab.page.reload()
    tab.frames.clear()
    tab.page.locator("#title", has_text="Cacti").wait_for()
    assert play(tab, random.Random(3), click) > 3
    tab.close()


def test_people_at_one_screen_hint_undo_and_another_page(browser, site):
    tab = StaticTab(browser, site[1], "cacti", players=("human", "human"))
    page = tab.page
    for seat in (0, 1):
        page.locator("#hand-over h2", has_text=f"player_{seat}").wait_for()
        page.click("#hand-over button")
        assert tab.positions()[-1]["seat"] == seat
        page.keyboard.press("h")
        page.locator("#advice", has_text="would choose").wait_for()
        tab.act(lambda: click(tab, 0))
    tab.act(lambda: page.click("#undo", force=True))
    assert page.locator("#moves li").count() == 1
    again = StaticTab(browser, site[1])
    again.page.goto(page.url)
    again.page.reload()
    again.frames.clear()
    again.page.locator("#moves li").first.wait_for()
    assert (
        again.positions()[-1]["moves"] == tab.positions()[-1]["moves"]
        or again.page.locator("#moves li").count() == 1
    )
    again.close()
    tab.close()


def test_a_new_game_and_watching(browser, site):
    tab = StaticTab(browser, site[1])
    page = tab.page
    page.click("#new-button")
    page.select_option("#game", "botanicus")
    page.locator("#seats select").nth(0).select_option("random")
    page.locator("#seats select").nth(1).select_option("greedy")
    page.fill("#seed", "7")
    page.click("#begin")
    page.locator("#title", has_text="Botanicus").wait_for()
    page.fill("#seconds", "0")
    page.click("#play")
    page.locator("#points caption", has_text="Result").wait_for(timeout=90_000)
    tab.close()


def test_hostile_links_and_files_are_answered(browser, site):
    """A thousand of them, and the page plays on."""
    rng, tab = random.Random(5), StaticTab(browser, site[1], "cacti")
    replay = record(make("cacti"), [RandomPolicy(0), RandomPolicy(1)], seed=2).content()
    good = json.dumps(replay)
    files = ["", "{}", "[]", "null", "1", '"x"', "[" * 50_000, good[:-20], good.replace("grow", "plant")]
    names = ["game", "version", "options", "data", "seed", "actions", "scores", "ended", "format"]
    values = [
        None,
        -1,
        2**70,
        "x",
        [],
        {},
        1.5,
        True,
        ["x"],
        {"num_players": 9},
        "os:system",
        [[-1], [1e300]],
    ]
    for _ in range(490):
        changed = {key: value for key, value in replay.items() if key != "checksum"} | {
            rng.choice(names): rng.choice(values)
        }
        files.append(
            json.dumps(
                changed
                | {"checksum": hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()}
            )
        )
    links = ["%%%", "AAAA", "x" * 5000, link("x" * 10**7), link([]), link({}), link(None), link([1] * 5)]
    for _ in range(500):
        entry = [rng.choice(["mars", "cacti"]), {}, 1, ["human", rng.choice(["greedy", "x"])], []]
        entry[rng.randrange(5)] = rng.choice([*values, [1, 2, 3], ["human"], ["human", None]])
        links.append(link(entry))
    new = {
        "type": "new",
        "game": "mars",
        "options": {},
        "seats": ["human", "greedy"],
        "seed": None,
        "replay": None,
    }
    messages = [new | {"replay": text} for text in files] + [{"type": "open", "link": each} for each in links]
    tab.page.evaluate("messages => messages.forEach(send)", [*messages, new | {"game": "botanicus"}])
    tab.page.locator("#title", has_text="Botanicus").wait_for(timeout=300_000)
    answers = tab.page.evaluate("heard.map(message => message.type)")
    assert answers.count("error") > 800
    assert answers.count("error") + answers.count("welcome") >= len(messages)
    assert tab.wait_turn()
    tab.act(lambda: click(tab, 0))
    tab.close()


def test_the_files_are_small(site):
    folder, _ = site
    assert (
        sum(len(gzip.compress(path.read_bytes(), 9)) for path in folder.rglob("*") if path.is_file())
        < 8_000_000
    )
