"""The page that needs no server, in a real browser: `make test-web`."""

import base64
import functools
import gzip
import hashlib
import http.server
import json
import os
import random
import shutil
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from test_browser import Tab, browser, click, play

from garden_core import RandomPolicy, Replay, make, record
from garden_core.jit import game_seed

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


def changed_release(folder, words):
    """Write another release over a page: its title and its worker say `words`."""
    (old,) = folder.glob("release-*")
    new = old.rename(old.with_name(f"release-{words}"))
    script = new / "page.js"
    script.write_text(script.read_text("utf-8") + f"\ndocument.body.dataset.release = {words!r};\n", "utf-8")
    for name in ("index.html", "service.js"):
        path = folder / name
        path.write_text(path.read_text("utf-8").replace(old.name, new.name), "utf-8")


class Host(http.server.SimpleHTTPRequestHandler):
    """A host as they are: files may be kept for ten minutes, `index.html` is redirected to its folder."""

    policy = ""
    log_message = staticmethod(lambda *_: None)

    def do_GET(self):
        if self.path.endswith("/index.html"):
            self.send_response(301)
            self.send_header("Location", self.path.removesuffix("index.html"))
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=600")
        if self.policy:
            self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()


@pytest.fixture
def hosted(site, tmp_path):
    """Return a function that copies the page into a folder of a new host, and the host's address."""
    kind = type("Own", (Host,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(kind, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def copied(name):
        return shutil.copytree(site[0], tmp_path / name), f"http://127.0.0.1:{server.server_port}/{name}/"

    yield copied, kind
    server.shutdown()
    server.server_close()


def release_of(page):
    """The release that a page shows, once it plays."""
    page.locator("#status", has_text="Your turn").wait_for(timeout=90_000)
    return page.evaluate("document.body.dataset.release ?? 'first'")


def settled(page):
    """Wait until the page's files are kept."""
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.wait_for_function("() => navigator.serviceWorker.controller")


def test_a_second_release_is_seen_once_the_first_is_closed(browser, hosted):
    folder, address = hosted[0]("v1")
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    assert release_of(page) == "first"
    settled(page)
    changed_release(folder, "second")
    other = context.new_page()
    other.goto(address)
    assert release_of(other) == "first"  # kept; the new one is fetched meanwhile
    other.wait_for_function("async () => (await navigator.serviceWorker.getRegistration()).waiting")
    page.reload()
    assert release_of(page) == "first"
    page.click("#new-button")
    page.select_option("#game", "botanicus")  # of the first release too, whose files are gone from the host
    page.click("#begin")
    page.locator("#title", has_text="Botanicus").wait_for(timeout=60_000)
    page.close()
    other.close()
    again = context.new_page()
    again.goto(address)
    assert release_of(again) == "second"
    context.set_offline(True)
    again.reload()
    assert release_of(again) == "second"
    context.close()


def test_two_folders_of_a_host_and_redirections(browser, hosted):
    (_, one), (second, two) = hosted[0]("v1"), hosted[0]("v2")
    changed_release(second, "second")
    context = browser.new_context()
    for address, name in ((one, "first"), (two, "second")):
        page = context.new_page()
        page.goto(address)
        assert release_of(page) == name
        settled(page)
        page.close()
    context.set_offline(True)
    for address, name in (
        (one, "first"),
        (two, "second"),
        (one + "index.html", "first"),
        (two + "?x=1", "second"),
    ):
        page = context.new_page()
        page.goto(address)
        assert release_of(page) == name
        page.close()
    context.close()


def test_without_storage_the_page_is_whole(browser, site):
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('off', 'SecurityError'); } })"
    )
    page.goto(site[1])
    assert release_of(page) == "first"
    assert page.locator("#guide").is_visible()
    assert page.locator("#link").is_visible()
    page.click("#guide-close")
    assert page.locator("#guide").is_hidden()
    context.close()


def test_a_host_that_forbids_webassembly(browser, hosted):
    copied, kind = hosted
    _, address = copied("v1")
    kind.policy = "script-src 'self'"
    page = browser.new_page()
    page.goto(address)
    page.locator("#error", has_text="forbids WebAssembly").wait_for(timeout=60_000)
    assert page.locator("#status").inner_text() == "This page cannot play here."
    page.close()


def test_watching_changes_the_address_seldom(browser, site):
    """Safari allows 100 changes in 30 s."""
    content = ["mars", {}, 1, ["random", "random"], []]
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "window.changes = 0; const replace = history.replaceState.bind(history);"
        "history.replaceState = (...given) => { if (++changes > 100) throw new DOMException('too often', 'SecurityError'); replace(...given); };"
    )
    page.goto(f"{site[1]}#{link(content)}")
    page.locator("#play").wait_for(timeout=60_000)
    page.fill("#seconds", "0")
    page.click("#play")
    page.locator("#points caption", has_text="Result").wait_for(timeout=90_000)
    assert page.locator("#moves li").count() > 100
    assert page.evaluate("changes") <= 100
    page.wait_for_timeout(600)
    last = page.url
    page.reload()
    page.locator("#points caption", has_text="Result").wait_for(timeout=90_000)
    assert page.url == last
    context.close()


def test_a_large_seed_is_not_rounded(browser, site):
    tab = StaticTab(browser, site[1], "cacti")
    seed = 2**63 + 3
    tab.page.click("#new-button")
    tab.page.fill("#seed", str(seed))
    tab.page.click("#begin")
    tab.page.wait_for_function("() => heard.filter(message => message.type === 'welcome').length === 2")
    with tab.page.expect_download() as saved:
        tab.page.click("#save")
    replay = Replay.parse(Path(saved.value.path()).read_bytes())
    assert (
        replay.seed
        == Replay.of(make("cacti"), int(game_seed(np.uint64(seed), np.uint64(0), np.uint64(0))), []).seed
    )
    tab.close()
