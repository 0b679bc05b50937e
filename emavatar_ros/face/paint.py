"""Painted maps for a head: skin colour with brows, skin relief, and the iris. Made once when a renderer starts.

Skin maps are laid around the base mesh as a cylinder about the vertical axis x = 0, z = AXIS: across is the angle,
-ANGLE to ANGLE (rad, positive to the person's left), up is the height LOW to HIGH (dm).
"""

from __future__ import annotations

import itertools
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.avatars import Colour, FaceProfile
from emavatar_ros.face import hairline

Floats = NDArray[np.floating]
Picture = NDArray[np.uint8]
WIDTH: Final = 2048
HEIGHT: Final = 1024
ANGLE: Final = 1.65
LOW: Final = 5.5
HIGH: Final = 8.6
AXIS: Final = 0.1


def coordinates(canon: Floats) -> Floats:
    """Texture coordinates float32 [n, 2], 0 to 1 from the lower left, of places in the base mesh."""
    angle = np.arctan2(canon[:, 0], canon[:, 2] - AXIS)
    return np.stack([np.clip(angle / (2 * ANGLE) + 0.5, 0.001, 0.999),
                     np.clip((canon[:, 1] - LOW) / (HIGH - LOW), 0.001, 0.999)], 1).astype(np.float32)


class _Canvas:
    """Where things are on the map, and noise."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        angle = (np.arange(WIDTH, dtype=np.float32) + 0.5) / WIDTH * 2 * ANGLE - ANGLE
        self.a = angle[None]
        self.y = HIGH - (np.arange(HEIGHT, dtype=np.float32)[:, None] + 0.5) / HEIGHT * (HIGH - LOW)

    def noise(self, size: float) -> Floats:
        """Noise of standard deviation 1 with grains of about `size` pixels, float32 [HEIGHT, WIDTH]."""
        shrink = max(1, int(size / 2))
        small = self.rng.standard_normal((HEIGHT // shrink + 2, WIDTH // shrink + 2)).astype(np.float32)
        small = cv2.GaussianBlur(small, (0, 0), max(0.5, size / shrink / 2))
        grown = cv2.resize(small, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
        result: Floats = (grown / (grown.std() + 1e-9)).astype(np.float32)
        return result

    def blob(self, a: float, y: float, ra: float, ry: float) -> Floats:
        """A soft spot on both sides: 1 in its middle; radii in rad and dm."""
        spot: Floats = np.exp(-((np.abs(self.a) - a) / ra) ** 2) * np.exp(-((self.y - y) / ry) ** 2)
        return spot

    def rows(self, low: float, high: float) -> slice:
        """Rows of the map between two heights, dm."""
        return slice(int((HIGH - high) / (HIGH - LOW) * HEIGHT), int((HIGH - low) / (HIGH - LOW) * HEIGHT))

    def pixel(self, a: float, y: float) -> tuple[int, int]:
        """Place on the map in sixteenths of a pixel, as OpenCV draws with shift 4."""
        return (int((a + ANGLE) / (2 * ANGLE) * WIDTH * 16), int((HIGH - y) / (HIGH - LOW) * HEIGHT * 16))


def skin(profile: FaceProfile, seed: int = 5) -> Picture:
    """Skin colour and brows as seen (sRGB); alpha: creases that come
    and go, 128 is none. uint8 [HEIGHT, WIDTH, 4], top row first."""
    canvas = _Canvas(seed)
    base = np.array(profile.skin, np.float32)
    picture = np.broadcast_to(base, (HEIGHT, WIDTH, 3)).copy()
    dark = 1 - float(base.mean())
    red = np.array([0.06, -0.085, -0.075], np.float32)
    flush = 0.75 * canvas.blob(0.42, 6.98, 0.17, 0.20) + 0.55 * canvas.blob(0, 6.98, 0.09, 0.13) \
        + 0.25 * canvas.blob(0, 6.42, 0.12, 0.10) + 0.2 * canvas.blob(0.1, 7.75, 0.4, 0.2)
    picture += (profile.blush * (0.8 - 0.4 * dark)) * flush[..., None] * red
    socket = canvas.blob(0.225, 7.27, 0.10, 0.11) + 0.5 * canvas.blob(0.17, 7.14, 0.09, 0.05)
    picture += socket[..., None] * np.array([-0.055, -0.065, -0.045], np.float32) * (0.6 + profile.age)
    mottle = 0.6 * canvas.noise(26) + 0.5 * canvas.noise(9)
    picture += mottle[..., None] * np.array([0.006, 0.010, 0.010], np.float32)
    picture += canvas.noise(90)[..., None] * np.array([0.006, 0.004, -0.003], np.float32)
    picture += (canvas.noise(2.0) * 0.007)[..., None]
    if profile.freckles:
        where = canvas.blob(0.3, 7.0, 0.28, 0.22) + canvas.blob(0, 7.05, 0.15, 0.15)
        spots = np.clip(canvas.noise(5) - 1.35 + 0.5 * where, 0, 1) * np.clip(where, 0, 1)
        picture -= (profile.freckles * spots)[..., None] * np.array([0.12, 0.17, 0.16], np.float32)
    if profile.stubble:
        _stubble(canvas, picture, profile)
    brows = _brows(canvas, profile)[..., None]
    picture = picture * (1 - brows) + np.array(profile.brows, np.float32) * brows
    # Under the hair the skin has its colour, thinning out towards the hairline.
    inside = hairline.above(profile.style, canvas.a, canvas.y) + 0.018 * canvas.noise(7)
    scalp = _step((inside + 0.01) / 0.12)[..., None]
    picture = picture * (1 - scalp) + np.array(profile.hair, np.float32) * 0.65 * scalp
    baked, creases = _slopes(profile)
    picture *= 1 + (0.24 * baked * (1 - scalp[..., 0]))[..., None]
    rgba = np.concatenate([picture, 0.5 + creases[..., None] * 0.5], 2)
    picture8: Picture = np.clip(rgba * 255 + 0.5, 0, 255).astype(np.uint8)
    return picture8


def _brows(canvas: _Canvas, profile: FaceProfile) -> Floats:
    """Coverage of the brows, hair by hair."""
    layer = np.zeros((HEIGHT, WIDTH), np.uint8)
    rng = canvas.rng
    for side in (-1, 1):
        for _ in range(int(300 + 420 * profile.brow_weight)):
            t = float(rng.random())
            arch = 7.440 + 0.050 * np.sin(np.pi * min(0.06 + 0.68 * t, 1.0))
            arch -= 0.060 * (max(0.0, t - 0.62) / 0.38) ** 1.3
            wide = min(1.0, 0.62 + t * 2.0) if t < 0.45 else 1 - 0.85 * (t - 0.45) / 0.55
            half = (0.022 + 0.016 * profile.brow_weight) * wide
            y = arch + float(rng.uniform(-1, 1)) * half
            a = 0.085 + 0.315 * t
            lean = 1.25 - 1.35 * min(1.0, t * 1.25) - 0.55 * (y - arch) / 0.04 + float(rng.normal(0, 0.16))
            long = float(rng.uniform(0.035, 0.075)) * (0.75 if t < 0.12 else 1)
            middle = (a + long * 0.5 * np.cos(lean) / 1.35, y + long * 0.55 * np.sin(lean))
            end = (a + long * np.cos(lean * 0.7) / 1.35, y + long * 0.9 * np.sin(lean * 0.7))
            places = [canvas.pixel(side * p, q) for p, q in ((a, y), middle, end)]
            value = int(rng.uniform(90, 215))
            for first, second in itertools.pairwise(places):
                cv2.line(layer, first, second, value, 1, cv2.LINE_AA, 4)
    hairs = layer.astype(np.float32) / 255
    soft = cv2.GaussianBlur(hairs, (0, 0), 5.0)
    result: Floats = np.clip(hairs * 0.75 + soft * (0.45 + 0.6 * profile.brow_weight), 0, 0.94)
    return result


def _stubble(canvas: _Canvas, picture: Floats, profile: FaceProfile) -> None:
    """A shaved or short beard: darker, cooler skin with single hairs, on jaw, chin and upper lip."""
    a, y = np.abs(canvas.a), canvas.y
    cheek = 6.62 + 0.42 * np.clip((a - 0.25) / 0.9, 0, 1.3) ** 1.5
    jaw = 1 / (1 + np.exp((y - cheek) / 0.035))
    jaw = jaw / (1 + np.exp((5.98 + 0.15 * a - y) / 0.05)) / (1 + np.exp((a - 1.32) / 0.05))
    lip = np.exp(-((y - 6.785) / 0.060) ** 4) / (1 + np.exp((a - 0.24) / 0.02))
    where = np.clip(np.maximum(jaw, lip), 0, 1)
    tone = np.array([-0.085, -0.060, -0.040], np.float32) * profile.stubble
    picture += where[..., None] * tone
    layer = np.zeros((HEIGHT, WIDTH), np.uint8)
    rng = canvas.rng
    for _ in range(16000):
        p, q = float(rng.uniform(-1.35, 1.35)), float(rng.uniform(5.9, 7.3))
        column = int(np.clip((p + ANGLE) / (2 * ANGLE) * WIDTH, 0, WIDTH - 1))
        row = int(np.clip((HIGH - q) / (HIGH - LOW) * HEIGHT, 0, HEIGHT - 1))
        if rng.random() < where[row, column]:
            end = canvas.pixel(p + float(rng.normal(0, 0.004)), q - float(rng.uniform(0.008, 0.022)))
            cv2.line(layer, canvas.pixel(p, q), end, int(rng.uniform(60, 200)), 1, cv2.LINE_AA, 4)
    hairs = (layer.astype(np.float32) / 255 * profile.stubble * 0.8)[..., None]
    shade = np.array(profile.brows, np.float32) * (1 - profile.grey * 0.6) + 0.55 * profile.grey * 0.6
    picture[:] = picture * (1 - hairs) + shade * hairs


def _height(canvas: _Canvas, profile: FaceProfile) -> Floats:
    """Height of pores, lip lines and the lines that stay, in arbitrary units."""
    a, y = canvas.a, canvas.y
    pores = -np.clip(canvas.noise(2.2) - 0.8, 0, 3) * (
        0.6 + canvas.blob(0, 7.0, 0.3, 0.3) + canvas.blob(0.4, 6.95, 0.2, 0.2))
    height = 0.5 * pores + 0.10 * canvas.noise(5) + 0.25 * canvas.noise(14)
    lips = np.exp(-(a / 0.17) ** 4) * np.exp(-((y - 6.615) / 0.065) ** 4)
    columns = cv2.GaussianBlur(canvas.rng.standard_normal((1, WIDTH)).astype(np.float32), (0, 0), 2.0)
    height += lips * 0.8 * (columns / columns.std())
    if profile.age:
        # Fine lines below the eyes, bags, and the folds beside the mouth.
        rows = canvas.rows(6.5, 7.3)
        y, side = y[rows], np.abs(a)
        fold = np.exp(-((side - (0.20 + 0.40 * (6.98 - y))) / 0.040) ** 2) * np.exp(-((y - 6.82) / 0.11) ** 4)
        bag = np.exp(-((y - (7.13 - 0.35 * (side - 0.2) ** 2)) / 0.015) ** 2) * np.exp(-((side - 0.21) / 0.10) ** 4)
        fine = canvas.noise(4)[rows] * canvas.blob(0.3, 7.12, 0.16, 0.07)[rows]
        height[rows] -= profile.age * (1.2 * fine + 6.0 * fold + 4.0 * bag)
    result: Floats = height.astype(np.float32)
    return result


def _slopes(profile: FaceProfile, seed: int = 6) -> tuple[Floats, Floats]:
    """How the key light, from above and the person's right, shades the relief; and creases: forehead, brows, eyes."""
    canvas = _Canvas(seed)
    a, y = canvas.a, canvas.y
    height = _height(canvas, profile)
    across = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3) / 8
    down = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3) / 8
    lines = np.zeros((HEIGHT, WIDTH), np.float32)
    rows = canvas.rows(7.54, 8.06)
    for line, middle in enumerate((7.66, 7.77, 7.88)):
        wave = middle + 0.012 * np.sin(a * 7 + line) + 0.05 * np.cos(a * 9)
        ends = np.exp(-(a / (0.34 - 0.04 * line)) ** 4) * (1 - 0.2 * line)
        lines[rows] += (0.55 + 0.45 * profile.age) * _fold((y[rows] - wave) / 0.026) * ends
    rows = canvas.rows(7.0, 7.5)
    for k in (-1.0, 0.1, 1.0):
        way = 7.275 + k * 0.035 + k * 0.30 * (np.abs(a) - 0.40)
        fan = np.exp(-((np.abs(a) - 0.46) / 0.05) ** 4)
        lines[rows] += (0.30 + 0.6 * profile.age) * _fold((y[rows] - way) / 0.018) * fan
    rows = canvas.rows(7.25, 7.62)
    for side in (-1, 1):
        way = side * (0.045 + 0.03 * (y[rows] - 7.45))
        lines[rows] += _fold((a - way) / 0.014) * np.exp(-((y[rows] - 7.44) / 0.085) ** 4)
    return (0.6 * across + 0.8 * down).astype(np.float32), np.clip(lines * 0.62, -1, 1).astype(np.float32)


def _step(t: Floats) -> Floats:
    """0 below 0, 1 above 1, smooth between."""
    t = np.clip(t, 0, 1)
    result: Floats = t * t * (3 - 2 * t)
    return result


def _fold(t: Floats) -> Floats:
    """Shade across a fold lit from above: dark in it, a light edge below."""
    result: Floats = -np.exp(-t * t) + 0.45 * np.exp(-(t + 1.5) ** 2)
    return result


def relief(profile: FaceProfile, seed: int = 6) -> Picture:
    """Slopes of the relief across and up, for light per pixel; uint8 [HEIGHT, WIDTH, 2], 128 is flat."""
    height = _height(_Canvas(seed), profile)
    across = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3) / 8
    up = -cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3) / 8
    picture8: Picture = np.clip((0.5 + 0.12 * np.stack([across, up], 2)) * 255 + 0.5, 0, 255).astype(np.uint8)
    return picture8


def strip(seed: int = 8) -> Picture:
    """Hairs side by side: tone and cover, uint8 [64, 512, 2]; from the tips (top row) to the roots."""
    rng = np.random.default_rng(seed)
    fine = cv2.GaussianBlur(rng.standard_normal((1, 512 * 3)).astype(np.float32), (0, 0), 1.2)[:, 512:1024]
    broad = cv2.GaussianBlur(rng.standard_normal((1, 512 * 3)).astype(np.float32), (0, 0), 5)[:, 512:1024]
    fine, broad = fine / fine.std(), broad / broad.std()
    tone = np.clip(0.5 + 0.15 * fine + 0.10 * broad, 0, 1)
    t = np.linspace(1, 0, 64, dtype=np.float32)[:, None]
    reach = np.clip(0.90 + 0.05 * fine + 0.06 * broad, 0.6, 1.0)
    # Whole at the root, single hairs at the tip.
    gaps = np.clip(1 + 0.9 * (fine + 0.9) - 1.1 * np.clip(t - 0.35, 0, 1), 0, 1)
    cover = np.clip((reach - t) * 7, 0, 1) * np.clip((t + 0.01 + 0.03 * fine) * 16, 0, 1) * np.maximum(gaps, t < 0.3)
    both = np.stack([np.broadcast_to(tone, cover.shape), cover], 2)
    picture8: Picture = np.clip(both * 255, 0, 255).astype(np.uint8)
    return picture8


def curls(size: int = 512, seed: int = 12) -> Picture:
    """A tile of tight curls from above: height and tone, uint8 [size, size, 2]."""
    rng = np.random.default_rng(seed)
    height = np.zeros((size, size), np.float32)
    tone = np.full((size, size), 0.3, np.float32)
    for _ in range(2600):
        x, y, turn = rng.uniform(0, size), rng.uniform(0, size), float(rng.uniform(0, 360))
        radius, level = float(rng.uniform(5, 11)), float(rng.uniform(0.25, 1.0))
        start, shade = float(rng.uniform(0, 200)), float(rng.uniform(0, 1))
        for dx in (-size, 0, size):
            for dy in (-size, 0, size):
                if -16 < x + dx < size + 16 and -16 < y + dy < size + 16:
                    middle = (int(x + dx), int(y + dy))
                    axes = (int(radius), int(radius * 0.7))
                    cv2.ellipse(height, middle, axes, turn, start, start + 230, level, 2, cv2.LINE_AA)
                    cv2.ellipse(tone, middle, axes, turn, start, start + 230, shade, 2, cv2.LINE_AA)
    height = 0.75 * cv2.GaussianBlur(height, (0, 0), 0.9) + 0.25 * cv2.GaussianBlur(height, (0, 0), 5)
    picture8: Picture = np.clip(np.stack([height, tone], 2) * 255, 0, 255).astype(np.uint8)
    return picture8


def knit(size: int = 64) -> Picture:
    """A tile of fine knitting: brightness, uint8 [size, size, 1]."""
    x = (np.arange(size, dtype=np.float32) + 0.5) / size
    u, v = x[None] * 8 % 1, x[:, None] * 8
    stitch = np.cos((v + np.abs(u - 0.5) * 1.2) * 2 * np.pi) * 0.25 + np.sin(u * np.pi) * 0.5
    picture8: Picture = np.clip((0.25 + stitch)[..., None] * 255, 0, 255).astype(np.uint8)
    return picture8


def iris(colour: Colour, size: int = 512, seed: int = 7) -> Picture:
    """An eye from the front as seen: white with fine veins, limbal ring, iris, pupil; uint8 [size, size, 3].

    The picture spans the ball's diameter; the iris has 0.43 of its radius.
    """
    rng = np.random.default_rng(seed)
    x = (np.arange(size, dtype=np.float32) + 0.5) / size * 2 - 1
    r = np.hypot(x[None], x[:, None])
    around = np.arctan2(x[:, None], x[None])
    white = np.broadcast_to(np.array([0.93, 0.905, 0.89], np.float32), (size, size, 3)).copy()
    white -= np.clip(r - 0.5, 0, 1)[..., None] ** 1.5 * np.array([0.10, 0.26, 0.25], np.float32)
    veins = np.zeros((size, size), np.uint8)
    for _ in range(46):
        angle, reach = float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(0.98, 1.05))
        while reach > rng.uniform(0.55, 0.85):
            start = (int((np.cos(angle) * reach + 1) * size / 2), int((np.sin(angle) * reach + 1) * size / 2))
            angle += float(rng.normal(0, 0.05))
            reach -= 0.04
            end = (int((np.cos(angle) * reach + 1) * size / 2), int((np.sin(angle) * reach + 1) * size / 2))
            cv2.line(veins, start, end, int(rng.uniform(20, 60)), 1, cv2.LINE_AA)
    vein = cv2.GaussianBlur(veins, (0, 0), 0.8).astype(np.float32)[..., None] / 255
    white -= vein * np.array([0.15, 0.5, 0.5], np.float32)
    turns = rng.standard_normal((1, 720)).astype(np.float32)
    fibres = np.zeros_like(r)
    for width, strength in ((0.7, 0.5), (1.6, 0.6), (5, 0.5)):
        ring = cv2.GaussianBlur(np.concatenate([turns, turns, turns], 1), (0, 0), width)[0, 720:1440]
        place = (around + np.pi + 0.12 * np.sin(r * 30)) / (2 * np.pi) * 720
        sampled = np.interp(place, np.arange(720), ring / ring.std())
        fibres += strength * sampled
    t = np.clip((r - 0.15) / 0.28, 0, 1)
    bright = 0.92 + 0.20 * fibres * (0.35 + 0.65 * np.sin(np.pi * t)) + 0.35 * np.exp(-((t - 0.25) / 0.18) ** 2)
    tint = np.array(colour, np.float32)
    warm = np.clip(tint * np.array([1.35, 1.12, 0.85], np.float32), 0, 1)
    mix = np.exp(-((t - 0.1) / 0.28) ** 2)[..., None]
    disc = (tint * (1 - mix) + warm * mix) * bright[..., None] * 1.02
    ring_dark = np.clip((r - 0.335) / 0.085, 0, 1)[..., None] ** 1.3
    disc = disc * (1 - 0.85 * ring_dark)
    pupil = np.clip((0.160 - r) / 0.022, 0, 1)[..., None]
    disc = disc * (1 - pupil) + 0.02 * pupil
    inside = np.clip((0.435 - r) / 0.040, 0, 1)[..., None]
    inside = inside * inside * (3 - 2 * inside)
    picture = white * (1 - inside) + disc * inside
    picture8: Picture = np.clip(picture * 255 + 0.5, 0, 255).astype(np.uint8)
    return picture8
