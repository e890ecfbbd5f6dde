"""Films of recorded games: pages that hold the game, GIF, MP4, pictures as files."""

import base64
import gzip
import json
import re
import tracemalloc
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from variants import VARIANTS, has_picture

from cacti_env.cards import PACKAGED as CACTI
from garden_core import RandomPolicy, Replay, ReplayError, make, picture, record, save_film, save_page
from garden_core.recorded import film
from garden_core.recorded.film import page
from garden_core.render.svg import to_pixels

DRAWN = [(name, options) for name, options in VARIANTS if has_picture(make(name, **options))]


def played(name, seed=1, **options):
    game = make(name, **options)
    return record(game, [RandomPolicy(seed + seat) for seat in range(game.num_players)], seed)


def film_of(text):
    packed = re.search(r'<script type="text/plain" id="film">([^<]*)</script>', text)[1]
    film = json.loads(gzip.decompress(base64.b64decode(packed)))
    for form in ("wide", "narrow"):
        film[form] = ["".join(film["pieces"][number] for number in numbers) for numbers in film[form]]
    return film


@pytest.fixture(scope="module")
def cacti():
    return played("cacti")


@pytest.mark.parametrize(("name", "options"), DRAWN, ids=str)
def test_a_game_comes_back_from_its_page(name, options, tmp_path):
    replay = played(name, **options)
    save_page(replay, tmp_path / "game.html")
    again = Replay.load(tmp_path / "game.html")
    for each, path in ((replay, tmp_path / "one.json"), (again, tmp_path / "other.json")):
        each.save(path)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_a_page_shows_every_position(cacti):
    positions = len(cacti.actions) + 1
    film = film_of(page(cacti, estimates=[[0.5, 0.5]] * positions))
    assert {len(film[key]) for key in ("wide", "narrow", "scores", "estimates")} == {positions}
    assert len(film["moves"]) == positions - 1
    assert film["scores"][-1] == list(cacti.scores)
    assert film["wide"][3] == cacti.game.svg(list(cacti.states())[3], last=list(cacti.decisions())[3][1])
    assert all(ElementTree.fromstring(each) is not None for each in film["wide"] + film["narrow"])


def test_a_page_of_a_long_game_is_small():
    replay = played("botanicus", num_players=4)
    pictures = sum(len(replay.game.svg(state)) for state in replay.states())
    assert len(page(replay)) < pictures / 50


def test_a_seat_sees_nothing_hidden_in_the_pictures(cacti):
    open_, own = (film_of(page(cacti, seat))["wide"] for seat in (None, 0))
    assert open_ != own
    assert sum(">hidden<" in each for each in own) > len(own) / 2


def test_a_page_fetches_nothing_and_a_name_cannot_break_out_of_it(tmp_path):
    path = tmp_path / "cards.toml"
    path.write_text(CACTI.read_text("utf-8").replace("barrel", "</script><b>"), "utf-8")
    replay = played("cacti", cards=path)
    text = page(replay)
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="', text)
    assert text.count("</script>") == 3
    assert not any("<b>" in each for each in film_of(text)["wide"])
    (tmp_path / "game.html").write_text(text, "utf-8")
    assert Replay.load(tmp_path / "game.html").actions == replay.actions


def test_a_changed_page_is_refused(cacti, tmp_path):
    text, path = page(cacti), tmp_path / "game.html"
    path.write_text(text.replace(f'"seed": {cacti.seed}', f'"seed": {cacti.seed + 1}'), "utf-8")
    with pytest.raises(ReplayError, match="checksum"):
        Replay.load(path)
    path.write_text("<!doctype html>nothing", "utf-8")
    with pytest.raises(ReplayError, match="not a replay"):
        Replay.load(path)


def test_frames_are_of_one_height(cacti):
    shown = list(cacti.frames(width=200, compact=True))
    assert len({each.shape for each in shown}) == 1
    states = list(cacti.states())
    heights = [len(to_pixels(cacti.game.svg(state, compact=True), 200)) for state in states]
    assert len(set(heights)) > 1
    assert max(heights) == len(shown[0])
    assert (shown[0][min(heights) :] == shown[0][-1, 0]).all()


def test_a_film_can_leave_out_positions(cacti, tmp_path):
    states, shown = list(cacti.decisions()), list(cacti.frames(width=200, every=7))
    assert len(shown) == len(cacti.actions) // 7 + 1
    state, last = states[-8]
    assert (shown[-2] == to_pixels(cacti.game.svg(state, last=last), 200)).all()
    save_film(cacti, tmp_path / "game.gif", width=200, seconds=0.1, every=7)
    with Image.open(tmp_path / "game.gif") as film:
        assert (film.n_frames, film.width) == (len(shown), 200)
    for start in (1, 7, len(states) - 1):
        late = list(cacti.frames(width=200, every=7, start=start))
        assert len(late) == (len(states) - 1 - start) // 7 + 1
        assert (late[0] == shown[-len(late)]).all()
        save_film(cacti, tmp_path / "game.gif", width=200, every=7, start=start)
        with Image.open(tmp_path / "game.gif") as film:
            assert film.n_frames == len(late)


def test_the_colours_of_a_gif_are_those_of_the_pictures(cacti, tmp_path):
    save_film(cacti, tmp_path / "game.gif", width=400, every=5)
    with Image.open(tmp_path / "game.gif") as film:
        for number, picture in enumerate(cacti.frames(width=400, every=5)):
            film.seek(number)
            wrong = np.abs(np.array(film.convert("RGB")).astype(int) - picture).max(2)
            assert wrong.mean() < 4
            assert (wrong > 60).mean() < 1e-3


def test_an_mp4_shows_every_position(cacti, tmp_path):
    av = pytest.importorskip("av")
    save_film(cacti, tmp_path / "game.mp4", width=201)
    with av.open(str(tmp_path / "game.mp4")) as film:
        frames = list(film.decode(video=0))
    assert len(frames) == len(cacti.actions) + 3
    assert frames[0].width == 200


def test_wrong_films_are_refused(cacti, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="need as many estimates, not 1"):
        page(cacti, estimates=[[0.5, 0.5]])
    for name in ("game.avi", "game"):
        with pytest.raises(ValueError, match=r"a film is \.gif or \.mp4"):
            save_film(cacti, tmp_path / name)
    for wrong in ({"width": 0}, {"seconds": 0}, {"seat": 2}, {"every": 0}, {"start": 999}, {"start": -1}):
        with pytest.raises(ValueError, match=r"positive|seat|start must be"):
            save_film(cacti, tmp_path / "game.gif", **wrong)
    monkeypatch.setattr(film, "GIF_LIMIT", 1_000_000)
    with pytest.raises(ValueError, match=r"too many for a GIF of this width: show every \d+th"):
        save_film(cacti, tmp_path / "game.gif", width=400)
    assert not list(tmp_path.iterdir())


def test_pictures_as_files(cacti, tmp_path):
    state = list(cacti.states())[-1]
    picture(cacti.game, state, tmp_path / "end.svg", seat=1)
    assert (tmp_path / "end.svg").read_text("utf-8") == cacti.game.svg(state, 1)
    picture(cacti.game, state, tmp_path / "end.png", 300, dark=True)
    with Image.open(tmp_path / "end.png") as image:
        assert image.width == 300
    with pytest.raises(ValueError, match=r"a picture is \.svg or \.png"):
        picture(cacti.game, state, tmp_path / "end.jpg")


def test_a_film_holds_few_pictures_at_a_time(tmp_path):
    """A picture of a GIF takes a byte of memory per pixel, where it had three and a text."""
    replay = played("mars", max_decisions=24)
    save_film(replay, tmp_path / "small.gif", every=8)  # imports and fonts
    tracemalloc.start()
    try:
        save_film(replay, tmp_path / "game.gif", width=600)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    with Image.open(tmp_path / "game.gif") as gif:
        assert most < 2 * gif.n_frames * gif.width * gif.height
