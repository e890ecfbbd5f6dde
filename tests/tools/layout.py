"""Places and sizes of texts and click targets in pictures of `garden_core.render.svg`."""

import functools
import re
from typing import NamedTuple
from xml.etree import ElementTree

import font_lato
from PIL import ImageFont


class Box(NamedTuple):
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self):
        return self.right - self.left

    @property
    def height(self):
        return self.bottom - self.top

    def shared(self, other):
        """Return width and height of the overlap of two rectangles, negative where they are apart."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across, down


class Word(NamedTuple):
    """A line of text: content, size in the picture, box of its letters."""

    content: str
    size: float
    box: Box


class Target(NamedTuple):
    """A click target: its action, title and box."""

    action: int
    title: str
    box: Box


class Frame(NamedTuple):
    """A coordinate system: moved and scaled, not rotated."""

    x: float = 0
    y: float = 0
    scale: float = 1

    def inside(self, transform):
        """Return the frame of an element in this frame; rotations are ignored."""
        x, y, scale = self
        for name, values in re.findall(r"(\w+)\(([^)]*)\)", transform or ""):
            numbers = [float(value) for value in re.split(r"[ ,]+", values.strip())]
            if name == "translate":
                x, y = x + scale * numbers[0], y + scale * numbers[1]
            elif name == "scale":
                scale *= numbers[0]
        return Frame(x, y, scale)


@functools.cache
def font(bold):
    return ImageFont.truetype(font_lato.font_files["LatoBold" if bold else "Lato"], 100)


def size_of(svg):
    """Return width and height of a picture."""
    return tuple(float(_root(svg).get(side)) for side in ("width", "height"))


def words(svg):
    """Return every line of text of a picture."""
    return [word for element, frame in _walk(_root(svg)) if (word := _word(element, frame))]


def texts(svg):
    """Return the content of every line of text of a picture."""
    return [word.content for word in words(svg)]


def targets(svg):
    """Return the click targets of a picture."""
    clickable = []
    for element, frame in _walk(_root(svg)):
        if element.get("data-action") is not None:
            boxes = [box for part, inner in _walk(element, frame) if (box := _shape(part, inner))]
            title = next((child.text for child in element if _name(child) == "title"), "")
            clickable.append(Target(int(element.get("data-action")), title, _around(boxes)))
    return clickable


def _root(svg):
    return ElementTree.fromstring(svg)


def _name(element):
    return element.tag.rpartition("}")[2]


def _walk(element, frame=None):
    """Yield an element and everything below it, each with its frame."""
    frame = Frame().inside(element.get("transform")) if frame is None else frame
    yield element, frame
    for child in element:
        yield from _walk(child, frame.inside(child.get("transform")))


def _word(element, frame):
    if _name(element) != "text" or not element.text:
        return None
    size, x, y = (float(element.get(key)) for key in ("font-size", "x", "y"))
    left, top, right, bottom = font(element.get("font-weight") == "bold").getbbox(element.text, anchor="ls")
    shift = {"middle": -(left + right) / 2, "end": -right}.get(element.get("text-anchor"), 0)
    edges = (x + size * (left + shift) / 100, y + size * top / 100)
    ends = (x + size * (right + shift) / 100, y + size * bottom / 100)
    return Word(element.text, size * frame.scale, _placed(frame, *edges, *ends))


def _placed(frame, left, top, right, bottom):
    return Box(
        frame.x + frame.scale * left,
        frame.y + frame.scale * top,
        frame.x + frame.scale * right,
        frame.y + frame.scale * bottom,
    )


def _shape(element, frame):
    """Return the box of a shape, or None for other elements and for paths, as no target consists of a path alone."""
    number = {key: float(value) for key, value in element.items() if re.fullmatch(r"-?[\d.]+", value)}
    name = _name(element)
    if name == "rect":
        left, top = number.get("x", 0), number.get("y", 0)
        return _placed(frame, left, top, left + number["width"], top + number["height"])
    if name in ("circle", "ellipse"):
        across, down = number.get("rx", number.get("r")), number.get("ry", number.get("r"))
        x, y = number["cx"], number["cy"]
        return _placed(frame, x - across, y - down, x + across, y + down)
    if name == "polygon":
        places = [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]
        across, down = zip(*places, strict=True)
        return _placed(frame, min(across), min(down), max(across), max(down))
    return None


def _around(boxes):
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))
