"""Pictures: SVG, pixels, a window."""
