"""Pictures of all own games: whole, large enough, readable in both themes and by the colour-blind, clickable."""

import importlib
import itertools
from collections import Counter
from xml.etree import ElementTree

import pytest
from colours import SIGHTS, contrast, distance
from layout import size_of, targets, words
from results import own_games
from variants import variants

from garden_core import Batch, make
from garden_core.batch.policies import RandomPolicy

GAMES = own_games()
LOOKS = [
    {},
    {"dark": True},
    {"compact": True},
    {"legal": True},
    {"names": True, "legal": True, "compact": True},
]


def states(game, every=7, seed=1):
    """Yield positions of random play up to the end, each with the last decision."""
    batch, policy, last = Batch(game, 1, autoreset=False), RandomPolicy(seed), None
    batch.reset(seed)
    for number in itertools.count():
        over = batch.terminated[0] or batch.truncated[0]
        if over or number % every == 0:
            yield batch.states[0].copy(), last
        if over:
            return
        action = int(policy(batch, batch.all_rows)[0])
        last = int(batch.current_player[0]), action
        batch.step([action])


def shown(look):
    """Return the width in pixels at which a picture must be readable."""
    return 400 if look.get("compact") else 1100


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_words_are_whole_apart_and_large_enough_and_nothing_comes_from_outside(name, look):
    for options in variants(name):
        game = make(name, **options)
        for state, last in states(game, 31):
            picture = game.svg(state, 0, last=last, **look)
            assert "href" not in picture
            (width, height), shown_words = size_of(picture), words(picture)
            least = min(word.size for word in shown_words) * shown(look) / width
            assert least >= (9.9 if look.get("compact") else 11.9), options
            for word in shown_words:
                left, top, right, bottom = word.box
                assert 0 <= left < right <= width, (word, options)
                assert 0 <= top < bottom <= height, (word, options)
            for one, other in itertools.combinations(shown_words, 2):
                assert min(one.box.shared(other.box)) <= 0.5, (one, other, options)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("compact", [False, True])
def test_targets_are_large_enough_and_have_a_description(name, compact):
    pixels = 390 if compact else 1100  # a phone, a window
    for options in variants(name):
        game = make(name, **options)
        for state, _ in states(game, 23):
            picture = game.svg(state, legal=True, compact=compact)
            clickable = targets(picture)
            both = {target.box for target in clickable if game.labels[target.action].startswith("second hex")}
            for target in clickable:
                label, box = game.labels[target.action], target.box
                assert target.title == game.describe(state, target.action), label
                if both and label.split()[-2:-1] == [
                    "hex"
                ]:  # may be half a hex, without room for two targets
                    continue
                assert min(box.width, box.height) * pixels / size_of(picture)[0] >= 24, (label, box)


@pytest.mark.parametrize("name", GAMES)
def test_targets_are_legal_actions_of_the_player_to_move(name):
    for options in variants(name):
        game = make(name, **options)
        for state, _ in states(game, 11):
            mover, legal = int(state["current_player"]), set(game.legal_labels(state))
            for seat in (None, *range(game.num_players)):
                root = ElementTree.fromstring(game.svg(state, seat, legal=True))
                clicks = Counter(each.get("data-action") for each in root.iter() if each.get("data-action"))
                assert max(clicks.values(), default=1) == 1
                labels = {game.labels[int(action)] for action in clicks}
                assert labels <= (legal if seat in (None, mover) else set())
            assert "data-action" not in game.svg(state)


@pytest.mark.parametrize("name", GAMES)
def test_the_last_decision_must_be_one(name):
    game = make(name)
    state = next(states(game))[0]
    for last in ((0, -1), (0, game.num_actions), (game.num_players, 0), (-1, 0)):
        with pytest.raises(ValueError, match=r"last action|seat"):
            game.svg(state, last=last)


# --- colours ---

PALETTES = [(name, theme) for name in GAMES for theme in ("LIGHT", "DARK")]


def palette(name, theme):
    return getattr(importlib.import_module(f"{name}_env.drawing"), theme)


@pytest.mark.parametrize(("name", "theme"), PALETTES)
def test_text_stands_out(name, theme):
    paint = palette(name, theme)
    grounds = ("panel", "board", "raised", "tile", "offered") if name == "botanicus" else ("card",)
    for ink in (paint.ink, paint.faint):
        for ground in ("paper", *grounds):
            assert contrast(ink, getattr(paint, ground)) >= 4.5, ground
    for colour in paint.livery:
        assert contrast(paint.on_livery, colour) >= 4.5
    if name == "botanicus":
        assert contrast(paint.on_livery, paint.neutral) >= 4.5
        assert all(contrast(paint.on_level, level) >= 4.5 for level in paint.level)
        assert contrast(paint.on_done, paint.done) >= 4.5
        assert contrast(paint.on_pot, paint.pot) >= 4.5
    fields = {"mars": ("sand", "card"), "cacti": ("paper", "card"), "botanicus": ("bed", "raised", "panel")}
    for ground in (*(getattr(paint, field) for field in fields[name]), *getattr(paint, "ground", ())):
        assert contrast(paint.last, ground) >= 3, ground
    if name == "mars":
        for letter, flower in zip(paint.letters, paint.flowers, strict=True):
            assert contrast(letter, flower) >= 4.5
        assert contrast(paint.ink, paint.free) >= 4.5
    if name == "cacti":
        assert contrast("#ffffff", paint.back) >= 4.5
        assert all(contrast(paint.ink, ground) >= 4.5 for ground in paint.grounds)


@pytest.mark.parametrize(("name", "theme"), PALETTES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_that_mean_different_things_look_different(name, theme, sight):
    paint = palette(name, theme)
    players = (*paint.livery, paint.neutral) if name == "botanicus" else paint.livery
    groups = [players, *(getattr(paint, kind) for kind in ("flowers", "cacti") if hasattr(paint, kind))]
    for one, other in (pair for group in groups for pair in itertools.combinations(group, 2)):
        assert distance(one, other, sight) >= 12, (one, other)
