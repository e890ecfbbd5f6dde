"""Live pictures: a window that can be resized and closed, and the picture of a notebook's cell."""

import io
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from processes import python

from garden_core.render import display, svg
from garden_core.render.display import Display


def drawn(colour, width=300, height=200):
    return svg.document(width, height, svg.box(10, 10, 50, 30, 4, "#000000", 2), background=colour)


RED, BLUE = drawn("#ff0000"), drawn("#0000ff")


@pytest.fixture
def pygame():
    yield pytest.importorskip("pygame")
    for each in list(display._WINDOWS):
        each.close()


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves."""
    now = SimpleNamespace(time=0.0)
    sleep = lambda seconds: setattr(now, "time", now.time + seconds)
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: now.time, sleep=sleep))
    return now


@pytest.fixture
def shown():
    return Display("Toy")


def window(shown):
    return shown._screen._window


def content(pygame, shown):
    return pygame.surfarray.array3d(window(shown).get_surface()).swapaxes(0, 1)


def by_user(pygame, shown, event):
    """Have the user of a window do something."""
    pygame.event.post(pygame.event.Event(event, window=window(shown)))


def test_a_resized_window_is_painted_again(shown, pygame):
    shown.show(RED, 0)
    window(shown).size = 600, 800
    shown.show(RED, 0)  # the picture is the same, but its window is not
    seen = content(pygame, shown)
    np.testing.assert_array_equal(seen[200:600], svg.to_pixels(RED, 600))
    assert (seen[0, 0] == (255, 0, 0)).all(), "the background is around the picture too"


def test_a_large_picture_starts_within_the_screen(shown, pygame):
    shown.show(drawn("#ffffff", 6000, 2000), 0)
    screen = pygame.display.get_desktop_sizes()[0]
    width, height = window(shown).size
    assert 0.8 * screen[0] < width < screen[0]
    assert height == pytest.approx(width / 3, abs=1)


def test_a_window_closed_by_its_user_stays_closed_until_close(shown, pygame, clock):
    shown.show(RED, 2)
    by_user(pygame, shown, pygame.WINDOWCLOSE)
    shown.show(BLUE, 2)
    before = clock.time
    for picture in (RED, BLUE):
        shown.show(picture, 2)
        assert window(shown) is None
    assert clock.time == before, "nothing waits for a window that is not there"
    shown.close()
    shown.show(RED, 0)
    assert window(shown) is not None


def test_windows_are_apart(pygame):
    one, other = Display("one"), Display("other")
    one.show(RED, 0)
    other.show(BLUE, 0)
    by_user(pygame, one, pygame.WINDOWCLOSE)
    other.show(RED, 0)
    one.show(BLUE, 0)
    assert window(one) is None
    np.testing.assert_array_equal(content(pygame, other), svg.to_pixels(RED))
    one.close()
    other.show(BLUE, 0)
    np.testing.assert_array_equal(content(pygame, other), svg.to_pixels(BLUE))


def test_a_window_comes_back_when_others_shut_pygame_down(shown, pygame):
    shown.show(RED, 0)
    pygame.quit()
    shown.show(BLUE, 0)
    np.testing.assert_array_equal(content(pygame, shown), svg.to_pixels(BLUE))
    pygame.quit()
    shown.close()


def test_each_picture_is_shown_at_the_frame_rate(shown, pygame, clock):
    for number, (picture, fps) in enumerate([(RED, 4), (BLUE, 4), (RED, 4)], 1):
        shown.show(picture, fps)
        assert clock.time == pytest.approx(number / 4)
    for picture, fps in [(RED, 4), (BLUE, 0), (RED, None)]:
        shown.show(picture, fps)
        assert clock.time == pytest.approx(3 / 4), "shown already, or no time asked for"


@pytest.mark.parametrize("missing", ["pygame", "Window"])
def test_the_error_says_what_to_install(monkeypatch, missing):
    """Without pygame, and with the package pygame, which has no `Window`, in place of pygame-ce."""
    monkeypatch.setitem(sys.modules, "pygame", None if missing == "pygame" else ModuleType("pygame"))
    with pytest.raises(ImportError, match=r"needs pygame-ce: pip install '\.\[human\]'"):
        Display("Toy").show(RED, 0)


def test_pygame_is_loaded_by_the_first_window():
    pytest.importorskip("pygame")
    code = (
        "import sys; from mars_env import mars_v0; env = mars_v0.env(render_mode='human'); "
        "assert 'pygame' not in sys.modules; env.reset(seed=1); assert 'pygame' in sys.modules"
    )
    python("-c", code)


# --- notebooks ---


class Handle:
    """A display handle of IPython that keeps its pictures."""

    def __init__(self, image):
        self.images = [image]

    def update(self, image):
        self.images.append(image)


@pytest.fixture
def notebook(monkeypatch):
    """A running kernel: its shell, and the handles of what was displayed."""
    shell, handles = SimpleNamespace(kernel=object(), execution_count=1), []

    def shown(image, display_id):
        assert display_id is True
        handles.append(Handle(image))
        return handles[-1]

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell
    module.display, module.Image = shown, lambda data, format: (format, data)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setitem(sys.modules, "pygame", None)
    return SimpleNamespace(shell=shell, handles=handles)


def pixels_of(image):
    kind, data = image
    assert kind == "png"
    return np.array(Image.open(io.BytesIO(data)).convert("RGB"))


def test_a_notebook_has_one_picture_per_cell(shown, notebook, clock):
    shown.show(RED, 4)
    shown.show(BLUE, 4)
    shown.show(BLUE, 4)
    assert clock.time == pytest.approx(2 / 4)
    notebook.shell.execution_count = 2
    shown.show(BLUE, 4)
    shown.show(RED, 4)
    shown_pixels = [[pixels_of(image) for image in handle.images] for handle in notebook.handles]
    expected = [svg.to_pixels(RED), svg.to_pixels(BLUE)]
    np.testing.assert_array_equal(shown_pixels, [expected, expected[::-1]])
    shown.close()
    shown.show(RED, 0)
    assert len(notebook.handles) == 3, "after close a picture of its own"


def test_ipython_without_a_kernel_has_windows(shown, pygame, notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", pygame)
    notebook.shell.kernel = None
    shown.show(RED, 0)
    assert window(shown) is not None
    assert not notebook.handles
