"""The colours of the figures, read from the style sheet: told apart by everyone, and seen on either ground.

Dichromacy is simulated after Machado, Oliveira and Fernandes (2009), severity 1; distances are CIE 1976 ΔE.
"""

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

SIGHT = {
    "trichromat": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanope": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranope": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanope": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TOGETHER = {
    "splits and directions": ("grey", "blue", "vermillion"),
    "components": ("reddish", "green", "vermillion", "blue"),
}
DISTINCT = 15.0


def palette(scheme: str) -> dict[str, str]:
    """Read the variables of a scheme: the light ones, overlaid by the dark ones."""
    found: dict[str, str] = {}
    for sheet in ("base.css", "figures.css"):
        text = resources.files("agenthard.reports").joinpath("templates", sheet).read_text(encoding="utf-8")
        light, *dark = re.findall(r":root \{(.*?)\}", text, re.S)
        for block in (light, *dark) if scheme == "dark" else (light,):
            found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
    return found


def linear(colour: str) -> NDArray[np.float64]:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = to_xyz @ np.clip(rgb, 0, 1) / (0.9505, 1.0, 1.089)
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def contrast(first: str, second: str) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    high, low = sorted((float(linear(c) @ weights) for c in (first, second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("names", TOGETHER.values(), ids=TOGETHER)
def test_colours_of_one_figure_are_told_apart(names: tuple[str, ...], scheme: str, sight: str) -> None:
    colours = palette(scheme)
    seen = {name: lab(np.array(SIGHT[sight]) @ linear(colours[name])) for name in names}
    for first, second in combinations(names, 2):
        assert np.linalg.norm(seen[first] - seen[second]) >= DISTINCT, (first, second)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out_from_the_ground(scheme: str) -> None:
    colours = palette(scheme)
    for name in ("grey", "blue", "vermillion", "green", "reddish"):
        assert contrast(colours[name], colours["surface"]) >= 3, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shades_rise_steadily_and_their_numbers_are_readable(scheme: str) -> None:
    colours = palette(scheme)
    light = [lab(linear(colours[f"shade-{i}"]))[0] for i in range(8)]
    steps = np.diff(light)
    assert (np.abs(steps) >= 4).all() and (np.sign(steps) == np.sign(steps[0])).all(), light
    for i in range(8):
        ink = colours["shade-ink" if i < 5 else "shade-other-ink"]
        assert contrast(ink, colours[f"shade-{i}"]) >= 4.5, i
