"""What stands on a chart of a page, read from its SVG."""

from xml.etree import ElementTree

import numpy as np


def elements(svg, tag, style=""):
    """Elements of a tag whose class holds a word."""
    found = ElementTree.fromstring(str(svg)).iter(tag)
    return [e for e in found if not style or style in e.get("class", "").split()]


def lines(svg, style=""):
    """Polylines, each as points in pixels."""
    return [
        np.array([p.split(",") for p in e.get("points").split()], dtype=float)
        for e in elements(svg, "polyline", style)
    ]


def dots(svg, style=""):
    """Middles of circles."""
    found = elements(svg, "circle", style)
    return np.array([(e.get("cx"), e.get("cy")) for e in found], dtype=float)


def texts(svg):
    """Words, and where they stand."""
    return {
        e.text: (float(e.get("x")), float(e.get("y"))) for e in elements(svg, "text")
    }
