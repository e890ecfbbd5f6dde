"""Pictures: SVG, pixels, films, a window."""
