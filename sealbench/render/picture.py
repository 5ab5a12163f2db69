"""Figures as files: each SVG on its own, and the same picture as PNG where a converter is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sealbench.errors import CouldNotCheck
from sealbench.render.svg import Figure

EXTRA = "figures"
_INK = '<svg style="color:#1a1a1a;background:#fff" '
_PNG_WIDTH = 1440  # pixels; figures are drawn 720 units wide


def svg_file(figure: Figure) -> str:
    """A stand-alone SVG file: dark ink on white, since there is no page whose colours it could take."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + figure.svg.replace("<svg ", _INK, 1) + "\n"


def png_writer() -> Callable[[Figure], bytes]:
    """A function from a figure to PNG bytes.

    Raises
    ------
    CouldNotCheck : the extra is not installed; the hint names it.
    """
    try:
        converter: Any = import_module("cairosvg")
    except (ImportError, OSError) as error:  # OSError: the Python part is there, the cairo library is not
        raise CouldNotCheck(
            f"PNG figures need the extra `{EXTRA}` of sealbench, which is not usable here ({error})",
            hint=f"pip install 'sealbench[{EXTRA}]' (and the system's cairo library), or --figure-format svg",
        ) from error

    def write(figure: Figure) -> bytes:
        # The converter knows no currentColor, and draws on nothing where no background is given.
        svg = svg_file(figure).replace("currentColor", "#1a1a1a")
        return bytes(
            converter.svg2png(
                bytestring=svg.encode(), output_width=_PNG_WIDTH, background_color="#ffffff", unsafe=False
            )
        )

    return write
