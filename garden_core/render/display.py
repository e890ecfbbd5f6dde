"""Live pictures of a game: in a window or, in a notebook, below the running cell."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any
from weakref import WeakSet

import numpy as np

from garden_core.render.svg import to_pixels, to_png

_PAUSE = 0.02  # seconds after which a window looks again for what its user does
_SHARE = 0.9  # of the screen's width and height, that a new window has at most
_SMALLEST = (160, 120)


class Display:
    """Shows pictures one after another, each in place of the one before.

    The first one opens a window (pygame), or in a notebook appears below the running cell. A window that its user closes
    stays closed, and nothing waits for it any longer. Copies and pickles of a display have no window.

    Args:
        title: of the window.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._screen: _Window | _Notebook | None = None

    def show(self, svg: str, fps: float | None) -> None:
        """Show a picture for 1 / fps seconds, no time if fps is 0 or None; go on at once if it is shown already.

        Raises:
            ImportError: without pygame, where a window is needed.
        """
        start = time.monotonic()
        if self._screen is None:
            self._screen = _Notebook() if _kernel() is not None else _Window(self.title)
        new = self._screen.show(svg)
        self._screen.wait(start + 1 / fps if new and fps else start)

    def close(self) -> None:
        """Close the window; `show` opens a new one. A picture in a notebook stays."""
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the window out."""
        return Display, (self.title,)


# --- notebooks ---


def _kernel() -> Any:
    """Return the shell of a running IPython kernel, which is what notebooks have; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else shell


class _Notebook:
    """One picture below each cell in which something was shown."""

    def __init__(self) -> None:
        self._shown: tuple[int, str] | None = None
        self._handle: Any = None

    def show(self, svg: str) -> bool:
        """Show a picture; return whether it was not shown already."""
        from IPython.display import Image, display

        cell = _kernel().execution_count
        if (cell, svg) == self._shown:
            return False
        image = Image(data=to_png(svg), format="png")
        if self._shown is not None and self._shown[0] == cell:
            self._handle.update(image)
        else:
            self._handle = display(image, display_id=True)
        self._shown = cell, svg
        return True

    def wait(self, until: float) -> None:
        """Wait for a time of `time.monotonic`."""
        time.sleep(max(0.0, until - time.monotonic()))

    def close(self) -> None:
        self._shown = None


# --- windows ---


class _Window:
    """A display's own window; the picture is painted in the window's size."""

    def __init__(self, title: str) -> None:
        try:
            import pygame
            from pygame import Window
        except ImportError as error:
            raise ImportError(
                "render_mode='human' needs pygame-ce: pip install 'garden-envs[human]' "
                "(uninstall pygame first, which has the same files)"
            ) from error
        self._pygame = pygame
        self._new_window = Window
        self._title = title
        self._window: Any = None
        self._closed = False
        self._shown = ""
        _WINDOWS.add(self)

    def show(self, svg: str) -> bool:
        """Show a picture; return whether it was not shown already and there is a window to show it in."""
        if self._closed or (svg == self._shown and self._pygame.display.get_init()):
            return False
        self._shown = svg
        self.draw()
        return True

    def draw(self) -> None:
        """Draw what is shown, in a new window where there is none."""
        try:
            self._draw()
        except (
            self._pygame.error
        ):  # who shut pygame down, as environments of others do, closed this window too
            self._window = None
            self._draw()

    def _draw(self) -> None:
        pygame = self._pygame
        if self._window is None or not pygame.display.get_init():
            pygame.display.init()
            self._window = self._open()
        surface = self._window.get_surface()
        pixels = _fitting(self._shown, surface.get_size())
        height, width = pixels.shape[:2]
        surface.fill(pixels[0, 0].tolist())
        place = (surface.get_width() - width) // 2, (surface.get_height() - height) // 2
        surface.blit(pygame.image.frombuffer(pixels, (width, height), "RGB"), place)
        self._window.flip()

    def _open(self) -> Any:
        """Return a new window, as large as the picture or as the screen allows."""
        screen = self._pygame.display.get_desktop_sizes()[0]
        height, width = to_pixels(self._shown).shape[:2]
        share = min(1.0, _SHARE * screen[0] / width, _SHARE * screen[1] / height)
        window = self._new_window(self._title, (int(share * width), int(share * height)), resizable=True)
        window.minimum_size = _SMALLEST
        return window

    def wait(self, until: float) -> None:
        """Wait for a time of `time.monotonic`, or until the window is closed; answer its user."""
        while not self._closed:
            self._attend()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, _PAUSE))

    def _attend(self) -> None:
        """Handle the events of all windows."""
        pygame = self._pygame
        stale = set()
        for event in pygame.event.get() if pygame.display.get_init() else ():
            window = getattr(event, "window", None)
            for each in [each for each in _WINDOWS if window is not None and window is each._window]:
                if event.type == pygame.WINDOWCLOSE:
                    each.close()
                elif event.type in (pygame.WINDOWSIZECHANGED, pygame.WINDOWEXPOSED):
                    stale.add(each)
        for each in stale:
            if not each._closed:
                each.draw()

    def close(self) -> None:
        self._closed = True
        if self._window is not None and self._pygame.display.get_init():
            self._window.destroy()
        self._window = None


_WINDOWS: WeakSet[_Window] = WeakSet()
"""All open windows: events come in one queue for all."""


@functools.lru_cache(maxsize=4)
def _fitting(svg: str, size: tuple[int, int]) -> np.ndarray:
    """Paint a picture as large as fits into a size, width and height."""
    pixels = to_pixels(svg, size[0])
    if len(pixels) > size[1]:
        pixels = to_pixels(svg, max(1, size[0] * size[1] // len(pixels)))
    return pixels
