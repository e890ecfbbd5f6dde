"""Live pictures of a game: in a window or, in a notebook, below the running cell."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any
from weakref import WeakSet

import numpy as np

from garden_core.plugins import EXTRA
from garden_core.render.svg import to_pixels, to_png

_PAUSE = 0.02  # seconds between two looks at a window's events
_SHARE = 0.9  # maximum size of a new window, as a share of the screen's width and height
_SMALLEST = (160, 120)


class Display:
    """Shows pictures one after another in the same place.

    The first picture opens a window (pygame) or, in a notebook, appears below the running cell. After the user has closed
    the window it stays closed, and `show` no longer waits. Copies and pickles of a display have no window.

    Args:
        title: title of the window.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._screen: _Window | _Notebook | None = None

    def show(self, svg: str, fps: float | None) -> None:
        """Show a picture for 1 / fps seconds; do not wait if fps is 0 or None, or if it is shown already.

        Raises:
            ImportError: if a window is needed and pygame is missing.
        """
        start = time.monotonic()
        if self._screen is None:
            self._screen = _Notebook() if _kernel() is not None else _Window(self.title)
        new = self._screen.show(svg)
        self._screen.wait(start + 1 / fps if new and fps else start)

    def close(self) -> None:
        """Close the window; the next `show` opens a new one. A picture in a notebook stays."""
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the title only."""
        return Display, (self.title,)


# --- notebooks ---


def _kernel() -> Any:
    """Return the shell of a running IPython kernel, as in a notebook; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else shell


class _Notebook:
    """One picture below each cell that shows the game."""

    def __init__(self) -> None:
        self._shown: tuple[int | None, str] = None, ""  # cell and picture
        self._handle: Any = None

    def show(self, svg: str) -> bool:
        """Show a picture; return whether it is new."""
        from IPython.display import Image, display

        cell = _kernel().execution_count
        if (cell, svg) == self._shown:
            return False
        image = Image(data=to_png(svg), format="png")
        if cell == self._shown[0]:
            self._handle.update(image)
        else:
            self._handle = display(image, display_id=True)
        self._shown = cell, svg
        return True

    def wait(self, until: float) -> None:
        """Wait until a time of `time.monotonic`."""
        time.sleep(max(0.0, until - time.monotonic()))

    def close(self) -> None:
        self._shown = None, ""


# --- windows ---


class _Window:
    """The window of a display; the picture is painted in the window's size."""

    def __init__(self, title: str) -> None:
        try:
            import pygame
            from pygame import Window
        except ImportError as error:
            raise ImportError(
                f"render_mode='human' needs pygame-ce: {EXTRA.format('human')} "
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
        """Show a picture if the window is open; return whether it is new."""
        if self._closed or (svg == self._shown and self._pygame.display.get_init()):
            return False
        self._shown = svg
        self.draw()
        return True

    def draw(self) -> None:
        """Draw the picture, in a new window if there is none."""
        try:
            self._draw()
        except self._pygame.error:  # other environments shut pygame down, which closes this window
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
        """Return a new window of the picture's size, or smaller if the screen is."""
        screen = self._pygame.display.get_desktop_sizes()[0]
        height, width = to_pixels(self._shown).shape[:2]
        share = min(1.0, _SHARE * screen[0] / width, _SHARE * screen[1] / height)
        window = self._new_window(self._title, (int(share * width), int(share * height)), resizable=True)
        window.minimum_size = _SMALLEST
        return window

    def wait(self, until: float) -> None:
        """Wait until a time of `time.monotonic`, or until the window is closed; handle its events meanwhile."""
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
"""All windows: they share one queue of events."""


@functools.lru_cache(maxsize=4)
def _fitting(svg: str, size: tuple[int, int]) -> np.ndarray:
    """Paint a picture as large as fits into `size`, width and height."""
    pixels = to_pixels(svg, size[0])
    if len(pixels) > size[1]:
        pixels = to_pixels(svg, max(1, size[0] * size[1] // len(pixels)))
    return pixels
